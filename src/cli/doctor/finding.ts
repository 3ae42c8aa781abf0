import { toError } from '../../errors/app-error.js'

/** What was looked at, whether it is right, and what to do if not. */
export interface Finding {
  readonly subject: string
  /** `bad` needs somebody now, `warning` soon. */
  readonly state: 'ok' | 'warning' | 'bad'
  readonly message: string
  readonly advice?: string
}

export const ok = (subject: string, message: string): Finding => ({ subject, state: 'ok', message })
export const warning = (subject: string, message: string, advice: string): Finding => ({
  ...{ subject, state: 'warning', message, advice },
})
export const bad = (subject: string, message: string, advice: string): Finding => ({
  ...{ subject, state: 'bad', message, advice },
})

/** What looking gives; where it raises, that is the finding. */
export async function attempt(
  subject: string,
  advice: string,
  look: () => Finding | Promise<Finding>,
): Promise<Finding> {
  try {
    return await look()
  } catch (raw) {
    return bad(subject, toError(raw).message, advice)
  }
}
