"""Models whose configurations and numbers of parameters are published (`docs/configs/`)."""

#: Parameters as their publishers count them; DeepSeek-V3 without multi-token prediction, BERT with
#: its pooler, ViT with 1000 classes.
PARAMETERS = {
    "llama-3-8b": 8_030_261_248,
    "llama-3-70b": 70_553_706_496,
    "llama-3.2-1b": 1_235_814_400,
    "mixtral-8x7b": 46_702_792_704,
    "deepseek-v3": 671_026_419_200,
    "gpt2": 124_439_808,
    "bert-base": 109_482_240,
    "vit-b-16": 86_567_656,
}
