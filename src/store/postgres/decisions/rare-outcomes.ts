/** The outcomes with an index of their own, in the words of that index: a query is served by it when it repeats them. */
export const RARE_OUTCOMES = "outcome in ('deny', 'error', 'undefined')"
