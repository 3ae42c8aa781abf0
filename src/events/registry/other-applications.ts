import type { AuditReader } from '../../store/ports/audit-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import { applicationKey } from './registry-change.js'

/** Source of an application without a definition. */
export type KnownFrom = 'pipelines' | 'events' | 'executions'

/** An application whose definition the registry does not have. */
export interface OtherApplication {
  readonly name: string
  readonly knownFrom: readonly KnownFrom[]
}

export interface OtherApplicationsQuery {
  readonly nameContains: string | undefined
  readonly limit: number
}

/**
 * Applications known only by their pipelines or by audit records, ordered by name. Deleted
 * applications are excluded.
 */
export const readOtherApplications: ReadOperation<OtherApplicationsQuery, readonly OtherApplication[]> = {
  name: 'registry.other-applications',
  apply: async ({ registry, audit }, { nameContains = '', limit }) => {
    const wanted = nameContains.toLowerCase()
    const found = new Map<string, { readonly name: string; readonly knownFrom: KnownFrom[] }>()
    const isOther = async (name: string): Promise<boolean> => {
      const key = applicationKey(name)
      if (!key.includes(wanted)) return false
      return found.has(key) || (await registry.findApplication(key)) === undefined
    }
    const add = (name: string, from: KnownFrom): void => {
      const key = applicationKey(name)
      const known = found.get(key) ?? { name, knownFrom: [] }
      found.set(key, known)
      if (!known.knownFrom.includes(from)) known.knownFrom.push(from)
    }
    for (const name of await registry.applicationsOfPipelines(limit))
      if (await isOther(name)) add(name, 'pipelines')
    for (const name of await audit.applications(limit)) {
      if (!(await isOther(name))) continue
      const from = await happenedIn(audit, name)
      if (from !== undefined) add(name, from)
    }
    const sorted = [...found].sort(([one], [other]) => (one < other ? -1 : 1))
    return sorted.slice(0, limit).map(([, application]) => application)
  },
}

/**
 * Finds one of them by name: in any case if it has pipelines, else as written in the audit records.
 * Undefined if it is unknown, deleted, or its definition is known.
 */
export const readOtherApplication: ReadOperation<string, OtherApplication | undefined> = {
  name: 'registry.other-application',
  apply: async ({ registry, audit }, given) => {
    const key = applicationKey(given)
    if ((await registry.findApplication(key)) !== undefined) return undefined
    const query = { kind: 'pipeline', applicationKey: key, withDeleted: false, limit: 1 } as const
    const [pipeline] = await registry.page(query)
    const name = pipeline?.application ?? given
    const happened = await happenedIn(audit, name)
    const knownFrom: KnownFrom[] = pipeline === undefined ? [] : ['pipelines']
    if (happened !== undefined) knownFrom.push(happened)
    return knownFrom.length === 0 ? undefined : { name, knownFrom }
  },
}

/**
 * Undefined without an audit record: the index of applications also has those of removed records.
 */
async function happenedIn(
  audit: AuditReader,
  application: string,
): Promise<'events' | 'executions' | undefined> {
  const [newest] = await audit.page({ filter: { application }, order: 'newest_first', limit: 1 })
  return newest && (newest.executionId === undefined ? 'events' : 'executions')
}
