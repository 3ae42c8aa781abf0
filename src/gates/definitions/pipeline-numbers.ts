import { createHash } from 'node:crypto'
import { applicationKey, pipelineKey } from '../../events/registry/registry-change.js'
import type { RegistryReader } from '../../store/ports/registry-store.js'

/** The names behind a number; an application has no pipeline. */
export interface NumberedName {
  readonly application: string
  readonly pipeline: string | undefined
}

/** Of names that the registry does not know; a stage asks by its numbers right after it was given them. */
const MAX_REMEMBERED = 10_000

/**
 * The numbers by which forms and stages name applications and pipelines: those of the registry, else ones that follow from the names. The
 * latter lead back to the names only in the process that gave them out, and should two names share one, to the last that was asked for: a gate
 * is then made for the other stage, and its own finds none.
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

  /** What a number that was given out stands for. */
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

/** The numbers by which the orchestrator's plugins know an application and a pipeline. */
interface NumericIds {
  readonly applicationId: number
  readonly pipelineId: number
}

const INT_MASK = 0x7f_ff_ff_ff

/**
 * Numbers that follow from the names alone, for names that the registry does not know: positive Java ints, the same at
 * every call and on every machine.
 */
export function idsOfNames(application: string, pipeline: string): NumericIds {
  return {
    applicationId: numberOfName(application.toLowerCase()),
    pipelineId: numberOfName(`${application.toLowerCase()}\n${pipeline}`),
  }
}

/** A positive Java int that follows from a name. */
export function numberOfName(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE(0) & INT_MASK || 1
}
