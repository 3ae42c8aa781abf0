/** What a query is filtered by once the scopes of a run are known. No placeholder can be named so, so that a mark that is left over is refused. */
export function scopeMark(kind: 'atlas' | 'newrelic' | 'signalfx' | 'kubernetes'): string {
  return `\${?${kind}}`
}

/** The zones of a project: where no scope names one, those of every project (`.+/` covers both). */
export const GCE_ZONE = 'zone=~".+/projects/${project}/zones/${location}-.{1}"'
export const GCE_ANY_PROJECT = 'zone=~".+/zones/${location}-.{1}"'

/** Where no scope names a project, that of the source is asked alone. */
export const OF_PROJECT = ' AND project="${project}"'

const OF_SIDE = /\$\{(?!(?:application|service)\})[^{}]*\}/

/** Whether a query has placeholders that tell the sides: those that are alike on both tell no instances. */
export function namesSide(query: string): boolean {
  return OF_SIDE.test(query)
}
