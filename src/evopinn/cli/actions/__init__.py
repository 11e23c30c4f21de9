"""Actions of commands, which need numerics: a command reads its options, then imports its action.

So its help, and messages about its options, do not wait for torch.
"""
