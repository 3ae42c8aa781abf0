import { toError } from '../../errors/app-error.js'
import { makeColours } from '../output/colours.js'
import type { Colours } from '../output/colours.js'
import { EXIT } from '../session/session.js'
import type { Session } from '../session/session.js'
import { outJson } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'

/** Result of a check, with advice for problems. */
export interface Finding {
  readonly subject: string
  /** `bad` needs attention now, `warning` soon. */
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

/** Runs a check. An error becomes the finding. */
export async function attempt(
  subject: string,
  advice: string,
  check: () => Finding | Promise<Finding>,
): Promise<Finding> {
  try {
    return await check()
  } catch (raw) {
    return bad(subject, toError(raw).message, advice)
  }
}

/** Prints findings and sets exit code 1 if something is wrong. */
export function showFindings(
  findings: readonly Finding[],
  { format }: OutputOptions,
  session: Session,
): void {
  const { terminal } = session
  if (format === 'json') outJson(terminal, { findings })
  else
    terminal.out(findings.map((finding) => findingText(finding, makeColours(terminal.hasColours))).join(''))
  session.exitCode = findings.some(({ state }) => state === 'bad') ? EXIT.denied : EXIT.fine
}

function findingText({ subject, state, message, advice }: Finding, colours: Colours): string {
  const shown = {
    ok: colours.good('ok     '),
    warning: colours.strong('warning'),
    bad: colours.bad('WRONG  '),
  }[state]
  const next = advice === undefined ? '' : `         ${advice}\n`
  return `${shown}  ${subject}: ${message}\n${next}`
}
