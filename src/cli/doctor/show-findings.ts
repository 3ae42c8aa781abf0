import { makeColours } from '../output/colours.js'
import type { Colours } from '../output/colours.js'
import { EXIT } from '../session/session.js'
import type { Session } from '../session/session.js'
import { outJson } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'
import type { Finding } from './finding.js'

/** Prints findings, and has the program end with 1 where something is wrong. */
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
