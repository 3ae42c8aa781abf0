import { existsSync } from 'node:fs'

import { Option } from 'commander'
import type { Command } from 'commander'

import { BUNDLE_ALGORITHMS } from '../../config/values/bundle-algorithms.js'
import type { OriginatedValue } from '../../config/values/layered-values.js'
import { wrongUse } from './session.js'

/** The flags that say how bundles must be signed; they are called as in `opa run`. */
export interface VerificationOptions {
  readonly verificationKey?: string
  readonly verificationKeyId?: string
  readonly signingAlg?: string
  readonly scope?: string
  readonly excludeFilesVerify?: readonly string[]
}

/** The id of a key that is given without one, and its algorithm, as in OPA. */
const DEFAULT_ID = 'default'
const DEFAULT_ALGORITHM = 'RS256'
const SECTION = ['policies', 'bundleSigning']

/** Adds the flags that say how bundles must be signed. */
export function addVerificationOptions(command: Command): Command {
  return command
    .option(
      '--verification-key <file>',
      'verify bundles with the public key, or for HS256 the secret, in a file',
    )
    .option('--verification-key-id <id>', `the id of that key (default: ${DEFAULT_ID})`)
    .addOption(
      new Option('--signing-alg <name>', `its algorithm (default: ${DEFAULT_ALGORITHM})`).choices(
        BUNDLE_ALGORITHMS,
      ),
    )
    .option('--scope <text>', 'the scope that signatures of bundles must have')
    .addOption(
      new Option(
        '--exclude-files-verify <pattern>',
        'files of a bundle that need not be signed; may be repeated, or joined by commas',
      ).argParser((value: string, previous: readonly string[] | undefined) => [
        ...(previous ?? []),
        ...value.split(',').filter((pattern) => pattern !== ''),
      ]),
    )
}

/** What these flags set. They hold for all bundles: what the configuration says of single ones, and its other keys, count no more. */
export function verificationFlags(options: VerificationOptions): OriginatedValue[] {
  const { verificationKey, verificationKeyId, signingAlg, scope, excludeFilesVerify } = options
  if (verificationKey === undefined && signingAlg !== undefined)
    throw wrongUse('--signing-alg needs a --verification-key that it is the algorithm of')
  const id = verificationKeyId ?? (verificationKey === undefined ? undefined : DEFAULT_ID)
  const values = [
    ...(verificationKey === undefined
      ? []
      : [value(['keys'], [makeKey(verificationKey, id, signingAlg, scope)], '--verification-key')]),
    value(['keyId'], id, '--verification-key-id'),
    value(['scope'], scope, '--scope'),
    value(['excludeFiles'], excludeFilesVerify, '--exclude-files-verify'),
  ].filter((one) => one.value !== undefined)
  const [first] = values
  return first === undefined ? [] : [...values, value(['bundles'], [], first.origin)]
}

function value(path: readonly string[], given: unknown, origin: string): OriginatedValue {
  return { path: [...SECTION, ...path], value: given, origin }
}

function makeKey(
  file: string,
  id: string | undefined,
  algorithm = DEFAULT_ALGORITHM,
  scope: string | undefined,
): object {
  const common = { id, algorithm, ...(scope !== undefined && { scope }) }
  if (!algorithm.startsWith('HS')) return { ...common, publicKeyFile: file }
  if (!existsSync(file)) {
    // Without the value, which may be the secret itself, as OPA takes it.
    throw wrongUse(
      `--verification-key must name a file that holds the secret for ${algorithm}: what stands on a command line, everybody on the machine can read`,
    )
  }
  return { ...common, secret: { file } }
}
