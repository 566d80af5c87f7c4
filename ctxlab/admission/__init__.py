"""Evidence admission: which snippets enter one request, whole or as their last sentence, and why the others do not.

```text
snippets -> lineage (topics, times, order) -> passes (whole snippets, one clip) -> rendered evidence + receipt
```
"""
