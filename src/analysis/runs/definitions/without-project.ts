import { GCE_ANY_PROJECT, GCE_ZONE } from './prometheus-query.js'
import { OF_PROJECT } from './stackdriver-query.js'

/** As it stands within JSON. */
const OF_PROJECT_IN_JSON = JSON.stringify(OF_PROJECT).slice(1, -1)

/** The query as it is for a scope without a project: of a project nothing is said then. */
export function withoutProject(query: string): string {
  return query.replaceAll(GCE_ZONE, GCE_ANY_PROJECT).replaceAll(OF_PROJECT_IN_JSON, '')
}
