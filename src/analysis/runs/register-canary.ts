import { AppError } from '../../errors/app-error.js'
import type { NewRun } from '../../store/ports/analysis-store.js'
import type { Reader } from '../../store/ports/readers.js'
import type { Writer } from '../../store/ports/transaction.js'
import { startRun } from './analysis-operations.js'
import type { Actor } from './analysis-operations.js'
import type { Registration } from './definitions/registration.js'
import type { WaitingRun } from './intervals/run-queue.js'
import { makeRun } from './plan-run.js'

export interface RegisterCanaryDeps {
  readonly writer: Writer
  readonly reader: Reader
  /** Whether the registry knows an application by this name. */
  readonly isKnownApplication: (application: string) => Promise<boolean>
  /** The configured sources: the type of each by its name. */
  readonly sources: ReadonlyMap<string, string>
  /** Called with the run and the time at which its first interval is due. */
  readonly schedule: (run: WaitingRun) => void
}

/** A run with its number. */
export type StartedRun = NewRun & { readonly id: number; readonly warnings: readonly string[] }

/**
 * Starts the analysis of an application and returns it. Raises `not_found` for an unknown
 * application, `conflict` for one without a definition, and the errors of `makeRun`.
 */
export async function registerCanary(
  { reader, writer, sources, isKnownApplication, schedule }: RegisterCanaryDeps,
  registration: Registration,
  actor: Actor,
): Promise<StartedRun> {
  const { application } = registration
  const { user, nowMs } = actor
  const made = await reader.run(makeRun, { registration, user, nowMs, sources })
  if (made === undefined) throw undefinedAnalysis(application, await isKnownApplication(application))
  const { run, planParts, warnings } = made
  const id = await writer.run(startRun, { run, planParts, actor })
  schedule({ id, application, dueMs: run.nextIntervalMs })
  return { ...run, id, warnings }
}

function undefinedAnalysis(application: string, isKnown: boolean): AppError {
  const put = `PUT /analysis/applications/${encodeURIComponent(application)}`
  return isKnown
    ? new AppError(
        'conflict',
        `No analysis is defined for "${application}". Add ${application}.yaml to \`analysis.definitions\`, or send ${put}.`,
      )
    : new AppError(
        'not_found',
        `Application "${application}" not found. Check its name, or define its analysis: add ${application}.yaml to \`analysis.definitions\`, or send ${put}.`,
      )
}
