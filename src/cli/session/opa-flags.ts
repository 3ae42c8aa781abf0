import { ownMember } from '../../lib/own-member.js'

/** The commands that `opa` has too. */
type Command = 'eval' | 'test' | 'check' | 'build' | 'serve'
type Hints = Readonly<Record<string, string>>

const FILES = 'hidden files, node_modules and, where policies serve, *_test.rego are left out'
const CAPABILITIES = 'what the opa program that is found can do counts (tidegate version); opa takes it'
const ALL_ERRORS = 'all errors are told'
const FOR_ALL: Hints = {
  '--ignore': FILES,
  '--capabilities': CAPABILITIES,
  '--max-errors': ALL_ERRORS,
  '-m': ALL_ERRORS,
}
const MEASURING = 'tidegate eval --cost tells what each package took'
const PARTIAL = 'a module cannot be evaluated in part; opa eval can'
const INDEXED = 'answers are the same without'
const COVERED = 'tidegate test tells the coverage'
const IN_OPA = 'opa test has it'
const VERIFIED = 'tidegate eval, check and serve verify bundles'
const OPTIMISED = 'modules are compiled without; opa build -O optimises'
const SIGNING = 'opa sign signs the bundle that is built'

const ADDRESS = 'set the address with --addr HOST:PORT, or server.addr in the configuration'

/** What to do in the place of flags of `opa` and of other servers that are not here. */
const HINTS: Readonly<Record<Command, Hints>> = {
  eval: {
    '--coverage': COVERED,
    '--coverage-runs': COVERED,
    '--explain': 'use print, or opa eval --explain',
    '--strict': 'tidegate check --strict DIR',
    '-S': 'tidegate check --strict DIR',
    '--schema': 'tidegate check --schema DIR',
    '-s': 'tidegate check --schema DIR',
    '--var-values': 'use print, or opa eval --var-values',
    '--pretty-limit': 'values are shown whole',
    '--disable-early-exit': INDEXED,
    '--disable-indexing': INDEXED,
    '--optimize-store-for-read-speed': INDEXED,
    '--show-builtin-errors': 'tidegate eval --strict-builtin-errors ends with the first of them',
    '--target': 'it is always wasm',
    '-t': 'it is always wasm',
    '--stdin': 'give the query as an argument',
    '--package': 'give the whole path, as in data.a.b',
    '--import': 'give the whole path, as in data.a.b',
    '--metrics': MEASURING,
    '--instrument': MEASURING,
    '--profile': MEASURING,
    '--profile-limit': MEASURING,
    '--profile-sort': MEASURING,
    '--count': 'make bench-decisions measures',
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
    '--bench': IN_OPA,
    '--benchmem': IN_OPA,
    '--count': IN_OPA,
    '--coverage-runs': IN_OPA,
    '--parallel': 'opa tells how many run at a time; opa test has it',
    '-p': 'opa tells how many run at a time; opa test has it',
    '--sort': 'tests are told by file and row; opa test has it',
    '--explain': 'use print, or opa test --explain',
    '--var-values': 'use print, or opa test --var-values',
    '--target': 'every test is run by opa, and again as WebAssembly',
    '-t': 'every test is run by opa, and again as WebAssembly',
  },
  check: {
    '--v0-v1': 'opa check --v0-v1 tells what is not in both versions',
    '--rego-v1': 'opa check --v0-v1 tells what is not in both versions',
  },
  build: {
    '--optimize': OPTIMISED,
    '-O': OPTIMISED,
    '--prune-unused': 'every package and rule stays an entrypoint; opa build prunes',
    '--signing-key': SIGNING,
    '--signing-alg': SIGNING,
    '--signing-plugin': SIGNING,
    '--claims-file': SIGNING,
    '--scope': SIGNING,
    '--verification-key': VERIFIED,
    '--verification-key-id': VERIFIED,
    '--exclude-files-verify': VERIFIED,
    '--partial-namespace': OPTIMISED,
    '--plan-addons': 'opa build -t plan has it',
    '--follow-symlinks': 'it is not needed: links are followed',
    '--wasm-include-print': 'bundles have no print; tidegate eval and test have it',
  },
  serve: { '--port': ADDRESS, '-p': ADDRESS, '--host': ADDRESS, '--listen': ADDRESS },
}

/** What to do in the place of a flag that others have under this command and `tidegate` has not; undefined for any other. */
export function hintForOpaFlag(command: string | undefined, flag: string): string | undefined {
  if (command === undefined || !Object.hasOwn(HINTS, command)) return undefined
  const hints = { ...FOR_ALL, ...HINTS[command as Command] }
  return ownMember(hints, flag)
}

/** Commands of `opa` that another command replaces here. */
const COMMANDS: Hints = { run: 'tidegate serve', exec: 'tidegate eval' }
const PASSED_ON = ['bench', 'capabilities', 'deps', 'fmt', 'inspect', 'parse', 'refactor', 'sign']

/** What to call in the place of a command that `opa` has and `tidegate` has not; undefined for any other. */
export function hintForOpaCommand(name: string): string | undefined {
  return PASSED_ON.includes(name) ? `tidegate opa -- ${name}` : ownMember(COMMANDS, name)
}
