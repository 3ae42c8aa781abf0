import { writeFile } from 'node:fs/promises'

import { AppError, toError } from '../../errors/app-error.js'
import { makeServiceClient } from '../session/service-client.js'
import { EXIT, wrongUse } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import type { Terminal } from '../session/terminal.js'
import { fileForm } from '../session/shared-options.js'
import { REPORT_FORMS } from './run-options.js'
import type { ReportOptions } from './run-options.js'

/** Reports start with these bytes; anything else is not from this service. */
const FORMS = {
  html: { path: '', accept: 'text/html', start: Buffer.from('<!doctype html>') },
  png: { path: '/chart.png', accept: 'image/png', start: Buffer.from('\x89PNG', 'latin1') },
} as const

/**
 * Writes the report of a run to a file or standard output. Raises `wrong_use` for a PNG on a
 * terminal, and the errors of the service.
 */
export async function writeReport(id: string, options: ReportOptions, terminal: Terminal): Promise<ExitCode> {
  const { output } = options
  const form = fileForm(options, REPORT_FORMS, terminal)
  if (form === 'png' && output === undefined && terminal.columns !== undefined) {
    throw wrongUse('a picture cannot be printed to a terminal; use --output FILE or a pipe')
  }
  const client = await makeServiceClient(options, terminal)
  const { path, accept, start } = FORMS[form]
  const pieces: Uint8Array[] = []
  const answer = await client.stream({ path: `/analysis/${encodeURIComponent(id)}${path}`, accept })
  for await (const piece of answer) pieces.push(piece)
  const bytes = Buffer.concat(pieces)
  if (!bytes.subarray(0, start.length).equals(start)) {
    throw new AppError(
      'unavailable',
      `the server at ${client.shown} is not this release of tidegate; check --url`,
    )
  }
  if (output === undefined) await terminal.outBytes(bytes)
  else await writeOutput(output, bytes)
  return EXIT.fine
}

async function writeOutput(path: string, bytes: Uint8Array): Promise<void> {
  await writeFile(path, bytes).catch((raw: unknown) => {
    throw new AppError('invalid', `cannot write ${path}: ${toError(raw).message}`, { cause: raw })
  })
}
