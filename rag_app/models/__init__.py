"""Names → models: embeddings and language models. Importing it loads none."""
