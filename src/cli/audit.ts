import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { z } from 'zod'
import { generateSigningKey } from '../audit/checkpoint-signature.js'
import { ExportEnd } from '../audit/export-trail.js'
import type { Verification } from '../audit/verify-trail.js'
import { AppError, toError } from '../errors/app-error.js'
import { inDataDirectory } from '../main/store/store-location.js'
import type { StoreLocation } from '../main/store/store-location.js'
import { verifyStoredTrail } from '../main/store/stored-trail.js'
import { EXPORT_FORMATS } from '../store/ports/audit-export.js'
import type { ExportFormat } from '../store/ports/audit-export.js'
import type { ChainEnd } from '../store/ports/audit-store.js'
import { defineSearch, RecordAnswer, addFilterOptions, filterQuery, defineTimeline } from './audit/search.js'
import type { FilterOptions } from './audit/search.js'
import { databaseOption } from './input/database-option.js'
import { makeColours } from './output/colours.js'
import type { Colours } from './output/colours.js'
import { Progress } from './output/progress.js'
import { count } from './output/text-table.js'
import { makeServiceClient } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions, AddressOptions } from './session/service-options.js'
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
import type { Terminal } from './session/terminal.js'
import { addWatchOption } from './session/watch.js'

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
function defineShow(command: Command, session: Session): void {
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
function defineExport(command: Command, session: Session): void {
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
function defineKeygen(command: Command, session: Session): void {
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

interface VerifyOptions extends ServiceOptions {
  readonly dataDir?: string
  readonly store?: string
  readonly publicKey?: readonly string[]
  readonly expected?: string
}

const Answer = z.object({
  isIntact: z.boolean(),
  problems: z.array(z.string()),
  firstBadSeq: z.number().optional(),
  checked: z.number(),
  end: z.object({ seq: z.number(), hash: z.string() }),
  startsAfterSeq: z.number(),
  checkpoints: z.object({
    total: z.number(),
    signed: z.number(),
    signaturesChecked: z.boolean(),
    verified: z.number(),
    verifiedThroughSeq: z.number(),
  }),
})

/** `tidegate audit verify`: verifies the trail of a service, a data directory or a database. */
function defineVerify(command: Command, session: Session): void {
  addWatchOption(addServiceOptions(command))
    .description(
      'Verifies that no record of the trail was changed, removed or moved. Otherwise exits with 1 and names the first bad record.',
    )
    .option('--data-dir <dir>', 'verify a data directory instead of a service')
    .option(
      '--store <url>',
      'verify a PostgreSQL database instead; read access is enough. The password comes from PGPASSWORD or ~/.pgpass',
    )
    .option(
      '--public-key <key...>',
      'current and former public keys of checkpoint signatures; requires --data-dir or --store',
    )
    .option('--expected <seq:hash>', 'a record that must exist with this hash, from a checkpoint in the log')
    .addHelpText(
      'after',
      examples('tidegate audit verify', 'tidegate audit verify --data-dir data --public-key KEY'),
    )
    .action(async (options: VerifyOptions) => {
      const { terminal } = session
      const found =
        options.dataDir === undefined && options.store === undefined
          ? await verifyRemote(options, terminal)
          : await verifyStore(locationOf(options), options, terminal)
      if (options.format === 'json') outJson(terminal, found)
      else terminal.out(reportText(found, makeColours(terminal.hasColours)))
      session.exitCode = found.isIntact ? EXIT.fine : EXIT.denied
    })
}

async function verifyRemote(options: VerifyOptions, terminal: Terminal): Promise<Verification> {
  if (options.publicKey !== undefined) {
    throw wrongUse('--public-key requires --data-dir or --store; a service uses its configured key')
  }
  const client = await makeServiceClient(options, terminal)
  const asked = client.request(Answer, { path: '/audit/verify', query: { expected: options.expected } })
  return await new Progress(terminal).during('verifying …', asked)
}

function locationOf({ dataDir, store }: VerifyOptions): StoreLocation {
  if (dataDir !== undefined && store !== undefined)
    throw wrongUse('--data-dir and --store cannot be combined')
  if (store === undefined) return inDataDirectory(dataDir ?? '')
  return databaseOption('--store', store)
}

async function verifyStore(
  location: StoreLocation,
  { publicKey, expected }: VerifyOptions,
  terminal: Terminal,
): Promise<Verification> {
  const progress = new Progress(terminal)
  try {
    return await verifyStoredTrail(location, {
      publicKeys: publicKey,
      expectsSignatures: publicKey !== undefined,
      expected: readExpected(expected),
      progress: (checked) => progress.show(`verifying … ${count(checked, 'record')}`),
    })
  } finally {
    progress.end()
  }
}

function readExpected(text: string | undefined): ChainEnd | undefined {
  if (text === undefined) return undefined
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text)
  if (match === null) throw wrongUse('--expected must be a record number, a colon and its hash')
  return { seq: Number(match[1]), hash: match[2] ?? '' }
}

function reportText(found: Verification, colours: Colours): string {
  const { isIntact, problems, checked, end, startsAfterSeq, checkpoints } = found
  const verdict = isIntact ? colours.good('intact') : colours.bad('NOT INTACT')
  const range = checked === 0 ? '' : `, ${startsAfterSeq + 1} to ${end.seq}`
  const { total, signed, signaturesChecked, verified, verifiedThroughSeq } = checkpoints
  const signatures =
    signed === 0
      ? 'none signed'
      : signaturesChecked
        ? `${signed} signed, ${verified} verified`
        : `${signed} signed, not verified: no public key given`
  const reach = verifiedThroughSeq === 0 ? '' : `, the last at record ${verifiedThroughSeq}`
  return [
    `${verdict}: ${count(checked, 'record')} checked${range}`,
    ...problems.map((problem) => `  ${problem}`),
    `checkpoints: ${total}, ${signatures}${reach}`,
    `end: ${end.seq}:${end.hash}`,
    '',
  ].join('\n')
}
