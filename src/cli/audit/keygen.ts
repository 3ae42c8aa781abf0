import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'

import { generateSigningKey } from '../../audit/checkpoint-signature.js'
import { AppError, toError } from '../../errors/app-error.js'
import { EXIT } from '../session/session.js'
import type { Session } from '../session/session.js'
import { addOutputOptions, examples, outJson } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'

interface KeygenOptions extends OutputOptions {
  readonly out: string
}

/** `tidegate audit keygen`: a key to sign checkpoints with. */
export function defineKeygen(command: Command, session: Session): void {
  addOutputOptions(command)
    .description(
      'Makes an Ed25519 key for audit.signingKey: the private half goes to a new file that only you may read, the public half is printed.',
    )
    .requiredOption('--out <file>', 'the file of the private key; it must not exist')
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
