import { createHash } from 'node:crypto'
import { applicationKey, pipelineKey } from '../../events/registry/registry-change.js'
import type { RegistryReader } from '../../store/ports/registry-store.js'

/** The application and pipeline of a number. `pipeline` is undefined if it is an application. */
export interface NumberedName {
  readonly application: string
  readonly pipeline: string | undefined
}

/**
 * Highest number of remembered names that the registry does not know. A stage uses its numbers
 * right after it got them.
 */
const MAX_REMEMBERED = 10_000

/**
 * Numbers of applications and pipelines in forms and stages: those of the registry, or hashes of
 * the names. Only the process that returned a hash can map it back to names. If names have the same
 * hash, it maps to those requested last: the gate of the earlier stage is then created for the
 * later one, and the earlier stage finds no gate.
 */
export class PipelineNumbers {
  readonly #registry: RegistryReader
  readonly #remembered = new Map<number, NumberedName>()

  constructor(registry: RegistryReader) {
    this.#registry = registry
  }

  async applicationId(application: string): Promise<number> {
    const known = await this.#registry.findApplication(applicationKey(application))
    if (known !== undefined) return known.id
    const { applicationId } = idsOfNames(application, '')
    this.#remember(applicationId, { application, pipeline: undefined })
    return applicationId
  }

  async idsOf(application: string, pipeline: string): Promise<NumericIds> {
    const known = await this.#registry.findPipelineByKey(pipelineKey(application, pipeline))
    const applicationId = await this.applicationId(application)
    if (known !== undefined) return { applicationId, pipelineId: known.id }
    const { pipelineId } = idsOfNames(application, pipeline)
    this.#remember(pipelineId, { application, pipeline })
    return { applicationId, pipelineId }
  }

  /** Returns the names of a number. */
  async namesOf(id: number): Promise<NumberedName | undefined> {
    const entry = await this.#registry.findById(id)
    if (entry === undefined) return this.#remembered.get(id)
    const { kind, application, name } = entry
    return { application, pipeline: kind === 'pipeline' ? name : undefined }
  }

  #remember(id: number, names: NumberedName): void {
    this.#remembered.delete(id)
    this.#remembered.set(id, names)
    if (this.#remembered.size <= MAX_REMEMBERED) return
    for (const oldest of this.#remembered.keys()) {
      this.#remembered.delete(oldest)
      return
    }
  }
}

/** Numbers of an application and a pipeline for the orchestrator's plugins. */
interface NumericIds {
  readonly applicationId: number
  readonly pipelineId: number
}

const INT_MASK = 0x7f_ff_ff_ff

/**
 * Derives numbers from names that the registry does not know: positive Java ints, the same on every
 * machine.
 */
export function idsOfNames(application: string, pipeline: string): NumericIds {
  return {
    applicationId: numberOfName(application.toLowerCase()),
    pipelineId: numberOfName(`${application.toLowerCase()}\n${pipeline}`),
  }
}

/** Derives a positive Java int from a name. */
export function numberOfName(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE(0) & INT_MASK || 1
}
