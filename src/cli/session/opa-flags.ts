import { ownMember } from '../../lib/own-member.js'

/** Commands that `opa` has, too. */
type Command = 'eval' | 'test' | 'check' | 'build' | 'serve'
type Hints = Readonly<Record<string, string>>

const FILES = 'hidden files, node_modules and, for serving, *_test.rego are always ignored'
const CAPABILITIES = 'the capabilities of the opa program in use apply (tidegate version); use opa for others'
const ALL_ERRORS = 'all errors are always shown'
const FOR_ALL: Hints = {
  '--ignore': FILES,
  '--capabilities': CAPABILITIES,
  '--max-errors': ALL_ERRORS,
  '-m': ALL_ERRORS,
}
const MEASURING = 'use tidegate eval --cost for the cost by package'
const PARTIAL = 'modules do not support partial evaluation; use opa eval'
const INDEXED = 'results do not depend on it'
const COVERED = 'use tidegate test for coverage'
const IN_OPA = 'use opa test'
const VERIFIED = 'use tidegate eval, check or serve to verify bundles'
const OPTIMISED = 'modules are compiled without optimisation; use opa build -O'
const SIGNING = 'use opa sign to sign the bundle'

const ADDRESS = 'use --addr HOST:PORT, or server.addr in the configuration'

/** Alternatives to flags of `opa` and other servers that do not exist here. */
const HINTS: Readonly<Record<Command, Hints>> = {
  eval: {
    '--coverage': COVERED,
    '--coverage-runs': COVERED,
    '--explain': 'use print, or opa eval --explain',
    '--strict': 'use tidegate check --strict DIR',
    '-S': 'use tidegate check --strict DIR',
    '--schema': 'use tidegate check --schema DIR',
    '-s': 'use tidegate check --schema DIR',
    '--var-values': 'use print, or opa eval --var-values',
    '--pretty-limit': 'values are always shown in full',
    '--disable-early-exit': INDEXED,
    '--disable-indexing': INDEXED,
    '--optimize-store-for-read-speed': INDEXED,
    '--show-builtin-errors': 'use tidegate eval --strict-builtin-errors, which fails at the first one',
    '--target': 'the target is always wasm',
    '-t': 'the target is always wasm',
    '--stdin': 'pass the query as an argument',
    '--package': 'pass the whole path, as in data.a.b',
    '--import': 'pass the whole path, as in data.a.b',
    '--metrics': MEASURING,
    '--instrument': MEASURING,
    '--profile': MEASURING,
    '--profile-limit': MEASURING,
    '--profile-sort': MEASURING,
    '--count': 'use make bench-decisions',
    '--partial': PARTIAL,
    '-p': PARTIAL,
    '--unknowns': PARTIAL,
    '-u': PARTIAL,
    '--disable-inlining': PARTIAL,
    '--shallow-inlining': PARTIAL,
    '--nondeterminstic-builtins': PARTIAL,
    '--optimize': OPTIMISED,
    '-O': OPTIMISED,
  },
  test: {
    '--benchmem': IN_OPA,
    '--count': IN_OPA,
    '--coverage-runs': IN_OPA,
    '--parallel': 'opa chooses how many tests run in parallel; use opa test',
    '-p': 'opa chooses how many tests run in parallel; use opa test',
    '--sort': 'tests are sorted by file and row; use opa test',
    '--explain': 'use print or --var-values, or opa test --explain',
    '--target': 'every test runs in opa and as WebAssembly',
    '-t': 'every test runs in opa and as WebAssembly',
  },
  check: {
    '--v0-v1': 'use opa check --v0-v1',
    '--rego-v1': 'use opa check --v0-v1',
  },
  build: {
    '--optimize': OPTIMISED,
    '-O': OPTIMISED,
    '--prune-unused': 'every package and rule is an entrypoint; use opa build to prune',
    '--signing-plugin': SIGNING,
    '--scope': 'write the scope into the file of --claims-file',
    '--verification-key': VERIFIED,
    '--verification-key-id': VERIFIED,
    '--exclude-files-verify': VERIFIED,
    '--partial-namespace': OPTIMISED,
    '--plan-addons': 'use opa build -t plan',
    '--follow-symlinks': 'symbolic links are always followed',
    '--wasm-include-print': 'bundles have no print; use tidegate eval or test',
  },
  serve: { '--port': ADDRESS, '-p': ADDRESS, '--host': ADDRESS, '--listen': ADDRESS, '--bind': ADDRESS },
}

/** Returns the alternative to a flag of another program; undefined if there is none. */
export function hintForOpaFlag(command: string | undefined, flag: string): string | undefined {
  if (command === undefined || !Object.hasOwn(HINTS, command)) return undefined
  const hints = { ...FOR_ALL, ...HINTS[command as Command] }
  return ownMember(hints, flag)
}

/** Alternatives to commands of `opa`. */
const COMMANDS: Hints = { run: 'tidegate serve', exec: 'tidegate eval' }
const PASSED_ON = ['bench', 'capabilities', 'deps', 'fmt', 'inspect', 'parse', 'refactor', 'sign']

/** Returns the alternative to a command of `opa`; undefined if there is none. */
export function hintForOpaCommand(name: string): string | undefined {
  return PASSED_ON.includes(name) ? `tidegate opa -- ${name}` : ownMember(COMMANDS, name)
}
