import type { AuditReader } from '../../store/ports/audit-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import { applicationKey } from './registry-change.js'

/** From what an application is known of which nobody has told the definition. */
export type KnownFrom = 'pipelines' | 'events' | 'executions'

/** An application that the registry holds no definition of. */
export interface OtherApplication {
  readonly name: string
  readonly knownFrom: readonly KnownFrom[]
}

export interface OtherApplicationsQuery {
  readonly nameContains: string | undefined
  readonly limit: number
}

/** Applications that are known by their pipelines, or by what has happened in them alone, by name. One that was deleted is none. */
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
 * One of them by its name: in any case where it has pipelines, and as it was written where only something has happened in it. Undefined where
 * nobody has told of it, or its definition is known or was deleted.
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

/** Undefined where the trail has no record of it: retention removes records, and leaves the name behind. */
async function happenedIn(
  audit: AuditReader,
  application: string,
): Promise<'events' | 'executions' | undefined> {
  const [newest] = await audit.page({ filter: { application }, order: 'newest_first', limit: 1 })
  return newest && (newest.executionId === undefined ? 'events' : 'executions')
}
