"""What isolation is compared with: shares without it (`shares`)."""
