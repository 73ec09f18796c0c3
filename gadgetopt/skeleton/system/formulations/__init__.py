"""The models on paper, one file each (`binary`)."""
