import { applicationKey } from '../../events/registry-change.js'
import type { Definition } from '../../orchestrator/definition.js'

/** Whether a pipeline is of an application; every one is where none is named. */
export function isOf({ application }: Definition, wanted: string | undefined): boolean {
  if (wanted === undefined) return true
  return typeof application === 'string' && applicationKey(application) === applicationKey(wanted)
}
