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
      const filter = { application: name }
      const [newest] = await audit.page({ filter, order: 'newest_first', limit: 1 })
      // Retention removes records, and leaves the name behind.
      if (newest !== undefined) add(name, newest.executionId === undefined ? 'events' : 'executions')
    }
    const sorted = [...found].sort(([one], [other]) => (one < other ? -1 : 1))
    return sorted.slice(0, limit).map(([, application]) => application)
  },
}
