import type { Command } from 'commander'
import { z } from 'zod'

import type { Verification } from '../../audit/verify-trail.js'
import type { ChainEnd } from '../../store/ports/audit-store.js'
import { inDataDirectory } from '../../main/store/store-location.js'
import type { StoreLocation } from '../../main/store/store-location.js'
import { verifyStoredTrail } from '../../main/store/stored-trail.js'
import { databaseOption } from '../input/database-option.js'
import { EXIT, wrongUse } from '../session/session.js'
import { makeColours } from '../output/colours.js'
import type { Colours } from '../output/colours.js'
import { Progress } from '../output/progress.js'
import { count } from '../output/text-table.js'
import { makeServiceClient } from '../session/service-client.js'
import { addServiceOptions } from '../session/service-options.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { examples, outJson } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { addWatchOption } from '../session/watch.js'

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
export function defineVerify(command: Command, session: Session): void {
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
