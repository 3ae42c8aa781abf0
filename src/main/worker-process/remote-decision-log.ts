import type { Config } from '../../config/config.js'
import { BufferedDecisionLog } from '../../decisions/buffered-decision-log.js'
import { usedPart } from '../../decisions/decision-batch.js'
import { nopDecisionLog } from '../../decisions/decision-log.js'
import type { DecisionLog } from '../../decisions/decision-log.js'
import type { ProcessLink } from '../../lib/processes/process-link.js'
import type { MainCalls } from '../workers/worker-calls.js'

/** The decision log of a worker: batches go to the main process, which alone writes. It holds its share of what may be held. */
export function makeRemoteDecisionLog(
  { decisions, audit }: Config,
  processes: number,
  main: ProcessLink<MainCalls>,
): DecisionLog {
  if (!decisions.enabled) return nopDecisionLog
  const { mask, maxInputBytes, maxResultBytes, bufferBytes, bufferRows, givesWay, flushIntervalMs } =
    decisions
  return new BufferedDecisionLog({
    writer: {
      write: async (batch) => {
        const receipt = await main.call('writeDecisions', usedPart(batch))
        return { ...receipt, spentMemory: batch.bytes }
      },
      close: () => Promise.resolve(),
    },
    bounds: {
      maxInputBytes,
      maxResultBytes,
      maxBufferedBytes: Math.ceil(bufferBytes / processes),
      maxBufferedRows: Math.ceil(bufferRows / processes),
      givesWay,
      flushIntervalMs,
    },
    masked: mask.length > 0,
    reports:
      audit.decisions === 'none'
        ? undefined
        : {
            reported: audit.decisions,
            take: (report) => void main.call('reportDecisions', report).catch(() => undefined),
          },
  })
}
