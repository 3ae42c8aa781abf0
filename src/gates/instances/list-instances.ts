import type { InstanceFilter } from '../../store/ports/gate-store.js'
import type { ReadOperation } from '../../store/ports/readers.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'

export interface InstancePage {
  readonly instances: readonly GateInstance[]
  /** Present when there are more: hand it in as `beforeId`. */
  readonly nextBeforeId: number | undefined
}

/** The matching instances, newest first. */
export const listInstances: ReadOperation<InstanceFilter, InstancePage> = {
  name: 'gates.list-instances',
  apply: async ({ gates }, filter) => {
    const found = await gates.listInstances({ ...filter, limit: filter.limit + 1 })
    const instances = found.slice(0, filter.limit)
    return { instances, nextBeforeId: found.length > filter.limit ? instances.at(-1)?.id : undefined }
  },
}
