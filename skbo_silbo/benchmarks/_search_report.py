def search_report(results):
    return []
