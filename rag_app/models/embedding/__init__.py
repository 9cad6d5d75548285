"""Names → embedding models. Importing it loads none."""
