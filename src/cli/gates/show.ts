import type { Command } from 'commander'

import { EXIT } from '../session/session.js'
import { oneLine } from '../output/display-width.js'
import { localTime } from '../output/local-time.js'
import { textTable } from '../output/text-table.js'
import { makeServiceClient } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { outJson } from '../session/shared-options.js'
import { DetailsAnswer, instancePath } from './answers.js'

type Evidence = DetailsAnswer['evidence'][number]

/** `tidegate gates show`: what the person who decides has to go by. */
export function defineShow(command: Command, session: Session): void {
  command
    .description('Shows an instance with its evidence, its reviews and its callbacks.')
    .action(async (id: string, options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const answer = await client.ask(DetailsAnswer, { path: instancePath(id) })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(detailsText(answer))
      session.exitCode = EXIT.fine
    })
}

function detailsText(details: DetailsAnswer): string {
  const { id, gateName, approvalGateId, status, comment, reviews, evidence, callbacks } = details
  const lines = [
    `${oneLine(`instance ${id} of ${gateName} (gate ${approvalGateId}): ${status}${comment === '' ? '' : `, "${comment}"`}`)}\n`,
    textTable(facts(details)),
    section('evidence', evidence.flatMap(evidenceLines)),
    section(
      'reviews',
      reviews.map(({ person, action, comment: words, at }) =>
        `${localTime(at)}  ${person}: ${action} ${words}`.trimEnd(),
      ),
    ),
    section(
      'callbacks',
      callbacks.map(({ id: message, url, state, attempts, lastError = '' }) =>
        `${message}  ${state} after ${attempts} of ${url} ${lastError}`.trimEnd(),
      ),
    ),
  ]
  return lines.join('')
}

function facts(details: DetailsAnswer): string[][] {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['  application', details.application],
    ['  execution', details.executionId],
    ['  triggered by', details.triggeredBy],
    ['  approvals', `${details.approvals} of ${details.approvalsNeeded}`],
    ['  since', localTime(details.createdAt)],
    ['  expires', details.decidedAt === undefined ? localTime(details.expiresAt) : undefined],
    ['  decided', details.decidedAt && localTime(details.decidedAt)],
    ['  decided by', details.decidedBy],
    ['  left to people', details.policyProblem],
    ['  evidence', details.isEvidencePending ? 'still being fetched' : undefined],
  ]
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
}

function evidenceLines({ connectorType, account, state, output, error }: Evidence): string[] {
  const head = `${connectorType}${account === null ? '' : ` (${account})`}: ${state}${error === undefined ? '' : `, ${error}`}`
  return [head, ...output.map((found) => `  ${outputText(found)}`)]
}

function outputText(found: Readonly<Record<string, unknown>>): string {
  return Object.entries(found)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('  ')
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  ${oneLine(line)}\n`).join('')}`
}
