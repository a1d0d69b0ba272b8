"""The experiment on needed heads: which heads does a model need?"""
