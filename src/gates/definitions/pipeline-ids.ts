import { createHash } from 'node:crypto'

/** The numbers by which the orchestrator's plugins know an application and a pipeline. */
export interface NumericIds {
  readonly applicationId: number
  readonly pipelineId: number
}

/** Returns the numbers of names. */
export type FindPipelineIds = (application: string, pipeline: string) => Promise<NumericIds>

const INT_MASK = 0x7f_ff_ff_ff

/**
 * Numbers that follow from the names alone, for names that the registry does not know: positive Java ints, the same at
 * every call and on every machine. Nothing is looked up by them, so it does no harm should two names share one.
 */
export function idsOfNames(application: string, pipeline: string): NumericIds {
  return {
    applicationId: numberOf(application.toLowerCase()),
    pipelineId: numberOf(`${application.toLowerCase()}\n${pipeline}`),
  }
}

function numberOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE(0) & INT_MASK || 1
}
