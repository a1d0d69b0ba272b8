"""The lab as a visitor sees it: a real Chromium on a real server. Slow, so ``make test`` runs it last."""
