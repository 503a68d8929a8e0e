"""What single protocols know: Board, Consensus, Perspectives; stances, dissent, changes of mind and the outcome.

Pure. It registers what it knows; nothing above imports it.
"""
