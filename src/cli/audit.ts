import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'

import { defineSearch, RecordAnswer, addFilterOptions, filterQuery, defineTimeline } from './audit/search.js'
import type { FilterOptions } from './audit/search.js'
import { defineVerify } from './audit/verify.js'
import { EXIT, wrongUse } from './session/session.js'
import type { Session } from './session/session.js'
import {
  examples,
  outJson,
  addFormerFormOption,
  fileForm,
  addOutputOptions,
} from './session/shared-options.js'
import type { FileFormOptions, OutputOptions } from './session/shared-options.js'
import { makeServiceClient } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions, AddressOptions } from './session/service-options.js'
import { addWatchOption } from './session/watch.js'
import { ExportEnd } from '../audit/export-trail.js'
import { AppError, toError } from '../errors/app-error.js'
import { EXPORT_FORMATS } from '../store/ports/audit-export.js'
import type { ExportFormat } from '../store/ports/audit-export.js'
import { Progress } from './output/progress.js'
import { generateSigningKey } from '../audit/checkpoint-signature.js'

/** `tidegate audit`: commands for the audit trail. */
export function defineAudit(command: Command, session: Session): void {
  command
    .description('Searches, shows, exports and verifies the audit trail.')
    .addHelpText(
      'after',
      examples(
        'tidegate audit search --application shop --since 2026-06-01',
        'tidegate audit export --format csv > trail.csv',
        'tidegate audit verify --data-dir data --public-key KEY',
      ),
    )
  // Subcommands inherit the settings of this command.
  const add = (usage: string): Command => command.command(usage)
  defineSearch(add('search').argument('[words...]', 'words in the bodies; word* matches a prefix'), session)
  defineShow(add('show').argument('<seq>', 'number of the record, as listed by search'), session)
  defineTimeline(add('timeline').argument('<execution>', 'id of the execution in the orchestrator'), session)
  defineExport(add('export'), session)
  defineVerify(add('verify'), session)
  defineKeygen(add('keygen'), session)
}

/** `tidegate audit show SEQ`: shows a record with its body. */
export function defineShow(command: Command, session: Session): void {
  addWatchOption(addServiceOptions(command))
    .description('Shows one record of the trail with its body, as JSON.')
    .addHelpText('after', examples('tidegate audit show 17'))
    .action(async (seq: string, options: ServiceOptions) => {
      if (!/^\d+$/.test(seq)) throw wrongUse(`${seq} is not a record number`)
      const client = await makeServiceClient(options, session.terminal)
      outJson(session.terminal, await client.request(RecordAnswer, { path: `/audit/${seq}` }))
      session.exitCode = EXIT.fine
    })
}

interface ExportOptions extends AddressOptions, FileFormOptions<ExportFormat>, FilterOptions {
  readonly bodies?: true
}

const BYTES_PER_MIB = 1024 * 1024

/** `tidegate audit export`: writes all matching records to standard output. */
export function defineExport(command: Command, session: Session): void {
  const { terminal } = session
  addFormerFormOption(addFilterOptions(addServiceOptions(command, EXPORT_FORMATS)), EXPORT_FORMATS)
    .description('Writes all matching records to standard output, oldest first.')
    .option('--bodies', 'include the bodies')
    .addHelpText('after', examples('tidegate audit export --format csv --application shop > shop.csv'))
    .action(async (options: ExportOptions) => {
      const client = await makeServiceClient(options, terminal)
      const format = fileForm(options, EXPORT_FORMATS, terminal)
      const query = { ...filterQuery(options), format, bodies: options.bodies }
      const progress = new Progress(terminal)
      const end = new ExportEnd()
      let bytes = 0
      let isRead = true
      for await (const chunk of await client.stream({ path: '/audit/export', query })) {
        bytes += chunk.byteLength
        end.pass(chunk)
        progress.show(`exporting … ${Math.floor(bytes / BYTES_PER_MIB)} MiB`)
        isRead = await terminal.outBytes(chunk)
        // Leaving the loop also ends the request.
        if (!isRead) break
      }
      progress.end()
      // A closed pipe is no error.
      if (isRead && end.records === undefined) throw notWhole(client.shown)
      session.exitCode = EXIT.fine
    })
}

function notWhole(url: string): AppError {
  return new AppError(
    'unavailable',
    `The export from ${url} is incomplete: its last line with the number of records is missing.`,
  )
}

interface KeygenOptions extends OutputOptions {
  readonly out: string
}

/** `tidegate audit keygen`: generates a key for signing checkpoints. */
export function defineKeygen(command: Command, session: Session): void {
  addOutputOptions(command)
    .description(
      'Generates an Ed25519 key for audit.signingKey. Writes the private key to a new file that only you can read, and prints the public key.',
    )
    .requiredOption('--out <file>', 'file for the private key; must not exist')
    .addHelpText('after', examples('tidegate audit keygen --out audit-key'))
    .action(({ out, format }: KeygenOptions) => {
      const { privateKey, publicKey } = generateSigningKey()
      writeNew(out, `${privateKey}\n`)
      if (format === 'json') outJson(session.terminal, { file: out, publicKey })
      else session.terminal.out(`${publicKey}\n`)
      session.exitCode = EXIT.fine
    })
}

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    throw new AppError('invalid', `cannot write the key: ${toError(cause).message}`, { cause })
  }
}
