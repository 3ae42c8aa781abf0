import { statSync, existsSync } from 'node:fs'
import { Option } from 'commander'
import type { Command } from 'commander'

import type { OriginatedValue } from '../../config/values/layered-values.js'
import { wrongUse } from './session.js'
import type { Terminal } from './terminal.js'
import { escapeControls } from '../../lib/text/shown-text.js'
import { BUNDLE_ALGORITHMS } from '../../config/values/bundle-algorithms.js'
export interface OutputOptions {
  readonly format: 'text' | 'json'
  readonly debug?: true
}
export interface PolicyOptions extends VerificationOptions {
  readonly config?: string
  readonly policies?: readonly string[]
  /** True if the command accepts the flag only for compatibility with opa. */
  readonly bundle?: readonly string[] | true
  /** Like `policies`, but all JSON and YAML files are data. */
  readonly data?: readonly string[]
  readonly opa?: string
  readonly capabilities?: string
  /** Maximum duration of an evaluation, in milliseconds. */
  readonly timeout?: number
}

/** Help of `--format`. */
const FORMAT_HELP = 'text (or pretty) for people; json for programs, with errors on standard output'

/**
 * Adds the flags of every command. `forms` are the formats of the file that the command writes, the
 * default first. `reports` are formats in addition to text and json.
 */
export function addOutputOptions(
  command: Command,
  forms: readonly string[] = [],
  reports: readonly string[] = [],
): Command {
  const more = reports.length === 0 ? '' : `; for CI: ${reports.join(', ')}`
  const help =
    forms.length === 0 ? `${FORMAT_HELP}${more}` : `${forms.join(' or ')}; json also reports errors as JSON`
  return command
    .addOption(
      new Option('-f, --format <format>', help)
        .argParser(formatReader([...forms, ...reports]))
        .default('text', forms[0]),
    )
    .option('--debug', 'show stack traces of errors')
}

/** Parses `--format`. `pretty` is opa's name for `text`. */
function formatReader(forms: readonly string[]): (name: string) => string {
  return (name) => {
    if (name === 'text' || name === 'pretty') return 'text'
    if (name === 'json' || forms.includes(name)) return name
    const known = [...new Set([...forms, 'text', 'pretty'])].join(', ')
    throw wrongUse(`--format must be ${known} or json, not '${name}'`)
  }
}

/** The option for a capabilities file of OPA. */
export function capabilitiesOption(): Option {
  return new Option(
    '--capabilities <file>',
    'capabilities file of OPA; policies that use anything else are refused',
  )
}

export interface FileFormOptions<Form extends string> {
  readonly format: OutputOptions['format'] | Form
  readonly as?: Form
}

/** Adds the former name of `--format`. */
export function addFormerFormOption(command: Command, forms: readonly string[]): Command {
  return command.addOption(new Option('--as <form>', 'former name of --format').choices(forms).hideHelp())
}

/** Returns the format of the file to write; the first by default. */
export function fileForm<Form extends string>(
  { format, as }: FileFormOptions<Form>,
  forms: readonly [Form, ...Form[]],
  terminal: Terminal,
): Form {
  if (as === undefined) return forms.find((form) => form === format) ?? forms[0]
  terminal.err(`warning: --as is deprecated; use --format ${as}\n`)
  return as
}

/** Adds the flags for policies. */
export function addPolicyOptions(command: Command): Command {
  return addVerificationOptions(
    addConfigOption(command)
      .addOption(repeatable('--policies <dir>', 'directory of Rego; repeatable'))
      .addOption(
        repeatable('-b, --bundle <path>', 'OPA bundle with a policy.wasm, or directory of Rego; repeatable'),
      )
      .option('--opa <file>', 'opa program for compiling')
      .addOption(capabilitiesOption()),
  )
}

/** Adds the flag for input schemas. */
export function addSchemaOption(command: Command): Command {
  return command.option(
    '-s, --schema <dir>',
    "also report members of input that policies read and these JSON Schemas do not have; 'default' uses the schemas of the orchestrator's documents",
  )
}
export interface WarningOptions {
  readonly failOnWarning?: true
}

/** Adds the flag that makes warnings errors. */
export function addWarningOption(command: Command): Command {
  return command.option('--fail-on-warning', 'exit with 1 if there is a warning about the policies')
}

/** Adds the flag for the form of the input. */
export function addInputFormOption(command: Command): Command {
  return command.addOption(
    new Option(
      '--as <form>',
      'evaluate the document as a saved pipeline, {"new": …}, as an application, {"app": …}, as a pipeline for Armory\'s Policy Engine, {"pipeline": …}, or raw, verbatim (default: detected)',
    ).choices(['pipeline', 'application', 'armory', 'raw']),
  )
}

/** Adds the flag for the configuration file. */
export function addConfigOption(command: Command): Command {
  return command.option('--config <file>', 'configuration file, YAML or JSON (default: TIDEGATE_CONFIG)')
}

/** Accepts flags of `opa` without effect: each file is parsed in its own Rego version. */
export function addVersionOptions(
  command: Command,
  flags: readonly string[] = ['--v0-compatible', '--v1-compatible'],
): Command {
  for (const flag of flags) command.addOption(new Option(flag, 'accepted as in opa').hideHelp())
  return command
}

/** Creates an option that may be repeated. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser(
    (value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value],
  )
}

/** Creates opa's `--data` option, for directories whose JSON and YAML files are all data. */
export function allDataOption(): Option {
  return repeatable(
    '-d, --data <path>',
    'directory of Rego with all its JSON and YAML files, or a file; repeatable',
  )
}

/** Returns the settings of the policy flags. Directories and bundles replace each other. */
export function policyFlags(options: PolicyOptions): OriginatedValue[] {
  const { policies, data, opa, capabilities, timeout } = options
  const bundle = options.bundle === true ? undefined : options.bundle
  const values: OriginatedValue[] = []
  const given = policies ?? data ?? bundle
  if (given !== undefined) {
    const origin = given === policies ? '--policies' : given === data ? '--data' : '--bundle'
    const unpacked = (bundle ?? []).filter(isDirectory)
    const directories = [...(policies ?? []), ...(data ?? []), ...unpacked]
    values.push({ path: ['policies', 'directories'], value: directories, origin })
    const bundles = (bundle ?? []).filter((path) => !unpacked.includes(path))
    values.push({ path: ['policies', 'bundles'], value: bundles, origin })
  }
  if (opa !== undefined) values.push({ path: ['policies', 'opa'], value: opa, origin: '--opa' })
  if (capabilities !== undefined)
    values.push({ path: ['policies', 'capabilities'], value: capabilities, origin: '--capabilities' })
  if (timeout !== undefined) {
    const path = ['policies', 'limits', 'maxDurationMs']
    values.push({ path, value: timeout, origin: '--timeout' })
  }
  return [...values, ...verificationFlags(options)]
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Returns the examples of a help text. */
export function examples(...lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n')
}

/** Prints JSON, indented by default. */
export function outJson(terminal: Terminal, value: unknown, pretty = true): void {
  terminal.out(`${escapeControls(JSON.stringify(value, null, pretty ? 2 : undefined))}\n`)
}
export interface VerificationOptions {
  readonly verificationKey?: string
  readonly verificationKeyId?: string
  readonly signingAlg?: string
  readonly scope?: string
  readonly excludeFilesVerify?: readonly string[]
}

/** Default key id and algorithm, as in OPA. */
const DEFAULT_ID = 'default'
const DEFAULT_ALGORITHM = 'RS256'
const SECTION = ['policies', 'bundleSigning']

/** Adds the flags for bundle signatures. */
function addVerificationOptions(command: Command): Command {
  return command
    .option(
      '--verification-key <file>',
      'file with the public key for verifying bundles, or with the secret for HS256',
    )
    .option('--verification-key-id <id>', `id of that key (default: ${DEFAULT_ID})`)
    .addOption(
      new Option('--signing-alg <name>', `algorithm of that key (default: ${DEFAULT_ALGORITHM})`).choices(
        BUNDLE_ALGORITHMS,
      ),
    )
    .option('--scope <text>', 'scope that bundle signatures must have')
    .addOption(
      new Option(
        '--exclude-files-verify <pattern>',
        'files of a bundle that need no signature; repeatable, or separated by commas',
      ).argParser((value: string, previous: readonly string[] | undefined) => [
        ...(previous ?? []),
        ...value.split(',').filter((pattern) => pattern !== ''),
      ]),
    )
}

/**
 * Returns the settings of these flags. They apply to all bundles and replace the configured keys.
 */
function verificationFlags(options: VerificationOptions): OriginatedValue[] {
  const { verificationKey, verificationKeyId, signingAlg, scope, excludeFilesVerify } = options
  if (verificationKey === undefined && signingAlg !== undefined)
    throw wrongUse('--signing-alg requires --verification-key')
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
    // Omits the value, which may be the secret itself, as in OPA.
    throw wrongUse(
      `--verification-key must be a file with the secret for ${algorithm}: other users of the machine can read command lines`,
    )
  }
  return { ...common, secret: { file } }
}
