import { statSync } from 'node:fs'

import { Option } from 'commander'
import type { Command } from 'commander'

import type { OriginatedValue } from '../../config/values/layered-values.js'
import { wrongUse } from './session.js'
import type { Terminal } from './terminal.js'
import { addVerificationOptions, verificationFlags } from './verification-options.js'
import type { VerificationOptions } from './verification-options.js'
import { escapeControls } from '../../lib/text/shown-text.js'

/** The flags that every command has. */
export interface OutputOptions {
  readonly format: 'text' | 'json'
  readonly debug?: true
}

/** The flags that say where policies come from, and how bundles must be signed. */
export interface PolicyOptions extends VerificationOptions {
  readonly config?: string
  readonly policies?: readonly string[]
  /** True where a command takes the flag for the habit's sake. */
  readonly bundle?: readonly string[] | true
  /** As `policies`, with all JSON and YAML of the directories. */
  readonly data?: readonly string[]
  readonly opa?: string
  readonly capabilities?: string
  /** The longest that one evaluation may be at work, in milliseconds. */
  readonly timeout?: number
}

/** Where errors go; each command's help says the same. */
const FORMAT_HELP = 'text (or pretty) for people; json for programs, errors included, on standard output'

/** Adds the flags that every command has. `forms` are those of the file that it writes, the default first. */
export function addOutputOptions(command: Command, forms: readonly string[] = []): Command {
  const help = forms.length === 0 ? FORMAT_HELP : `${forms.join(' or ')}; json also reports errors as JSON`
  return command
    .addOption(
      new Option('-f, --format <format>', help).argParser(formatReader(forms)).default('text', forms[0]),
    )
    .option('--debug', 'show where in the program an error happened')
}

/** `pretty` is how `opa` calls what is for people. */
function formatReader(forms: readonly string[]): (name: string) => string {
  return (name) => {
    if (name === 'text' || name === 'pretty') return 'text'
    if (name === 'json' || forms.includes(name)) return name
    const known = [...forms, 'text', 'pretty'].join(', ')
    throw wrongUse(`--format must be ${known} or json, not '${name}'`)
  }
}

/** The option for a capabilities file of OPA. */
export function capabilitiesOption(): Option {
  return new Option(
    '--capabilities <file>',
    'a capabilities file of OPA: policies that use anything else are refused',
  )
}

/** The flags of a command that writes a file in one of several forms. */
export interface FileFormOptions<Form extends string> {
  readonly format: OutputOptions['format'] | Form
  readonly as?: Form
}

/** Adds the former name of `--format` to a command that writes a file. */
export function addFormerFormOption(command: Command, forms: readonly string[]): Command {
  return command.addOption(new Option('--as <form>', 'the former name of --format').choices(forms).hideHelp())
}

/** The form of the file that a command writes: the first one where none is named. */
export function fileForm<Form extends string>(
  { format, as }: FileFormOptions<Form>,
  forms: readonly [Form, ...Form[]],
  terminal: Terminal,
): Form {
  if (as === undefined) return forms.find((form) => form === format) ?? forms[0]
  terminal.err(`warning: --as is deprecated here: write --format ${as}\n`)
  return as
}

/** Adds the flags that say where policies come from. */
export function addPolicyOptions(command: Command): Command {
  return addVerificationOptions(
    addConfigOption(command)
      .addOption(repeatable('--policies <dir>', 'a directory of Rego; may be repeated'))
      .addOption(
        repeatable(
          '-b, --bundle <path>',
          'an OPA bundle with a policy.wasm, or a directory of Rego; may be repeated',
        ),
      )
      .option('--opa <file>', 'the opa program to compile with')
      .addOption(capabilitiesOption()),
  )
}

/** Adds the flag that has the input of policies checked. */
export function addSchemaOption(command: Command): Command {
  return command.option(
    '-s, --schema <dir>',
    "also tell what policies read of input that these JSON Schemas do not have; 'default' stands for those of the orchestrator's documents",
  )
}

/** The flag that makes policy warnings fail a command. */
export interface WarningOptions {
  readonly failOnWarning?: true
}

/** Adds the flag that makes policy warnings fail a command. */
export function addWarningOption(command: Command): Command {
  return command.option('--fail-on-warning', 'exit with 1 where there is a warning about the policies')
}

/** Adds the flag that says how a document becomes an input. */
export function addInputFormOption(command: Command): Command {
  return command.addOption(
    new Option(
      '--as <form>',
      'ask about the document as a pipeline that is saved, {"new": …}, as an application, {"app": …}, or raw, as it is (default: what it looks like)',
    ).choices(['pipeline', 'application', 'raw']),
  )
}

/** Adds the flag for the configuration file. */
export function addConfigOption(command: Command): Command {
  return command.option('--config <file>', 'the configuration file, YAML or JSON (else TIDEGATE_CONFIG)')
}

/** Takes flags of `opa` that change nothing: each file is read in the version of Rego in which it parses. */
export function addVersionOptions(
  command: Command,
  flags: readonly string[] = ['--v0-compatible', '--v1-compatible'],
): Command {
  for (const flag of flags) command.addOption(new Option(flag, 'as opa takes it').hideHelp())
  return command
}

/** An option whose values add up. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser(
    (value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value],
  )
}

/** The flag for directories all of whose JSON and YAML is data, as `opa` takes them. */
export function allDataOption(): Option {
  return repeatable(
    '-d, --data <path>',
    'a directory of Rego with all its JSON and YAML, whatever its name, or a file; may be repeated',
  )
}

/** What the policy flags set. They name all policies together: one of them alone empties the other. */
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

/** The examples at the end of a help text. */
export function examples(...lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n')
}

/** Compact JSON on one line, or indented for people who read it. */
export function outJson(terminal: Terminal, value: unknown, pretty = true): void {
  terminal.out(`${escapeControls(JSON.stringify(value, null, pretty ? 2 : undefined))}\n`)
}
