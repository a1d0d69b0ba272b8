"""How the embedded models were made. Not needed to run the lab."""
