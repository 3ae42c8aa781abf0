import { createHash, randomBytes } from 'node:crypto'
import type { Command } from 'commander'

import { AppError } from '../errors/app-error.js'
import { EXIT } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { addOutputOptions, examples, outJson } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'

interface HashTokenOptions extends OutputOptions {
  readonly generate?: true
}

const GENERATED_BYTES = 32
/** A bearer token (RFC 6750, 2.1). */
const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/

/** `tidegate hash-token`: prints the hash of a token for the configuration. */
export function defineHashToken(command: Command, session: Session): void {
  addOutputOptions(command)
    .description(
      'Reads a token from standard input and prints its SHA-256 for auth.tokens in the configuration.',
    )
    .option('--generate', 'generate a random token and print it, too; it is not stored')
    .addHelpText('after', examples('tidegate hash-token < token.txt', 'tidegate hash-token --generate'))
    .action(async (options: HashTokenOptions) => {
      session.exitCode = await hashToken(options, session.terminal)
    })
}

async function hashToken(options: HashTokenOptions, terminal: Terminal): Promise<ExitCode> {
  const made = options.generate ? { token: randomBytes(GENERATED_BYTES).toString('base64url') } : undefined
  const token = made?.token ?? (await readToken(terminal))
  const answer = { ...made, sha256: createHash('sha256').update(token).digest('hex') }
  if (options.format === 'json') outJson(terminal, answer)
  else for (const [name, value] of Object.entries(answer)) terminal.out(`${name}: ${value}\n`)
  return EXIT.fine
}

async function readToken(terminal: Terminal): Promise<string> {
  if (terminal.isInteractive) terminal.err('Type the token, then Enter and Ctrl-D:\n')
  const token = (await terminal.readStdin()).toString('utf8').trim()
  if (BEARER_TOKEN.test(token)) return token
  const problem = token === '' ? 'no token on standard input' : 'this is not a bearer token'
  throw new AppError('invalid', `${problem}. Use letters, digits and -._~+/ only, or --generate.`)
}
