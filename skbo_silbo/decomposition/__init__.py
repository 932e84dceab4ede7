"""Transformers that learn the few directions a response depends on."""
