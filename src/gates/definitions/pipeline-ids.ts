import { createHash } from 'node:crypto'

/** The numbers by which the orchestrator's plugins know an application and a pipeline. */
export interface NumericIds {
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
