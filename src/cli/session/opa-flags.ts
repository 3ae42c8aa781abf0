/** The commands that `opa` has too. */
type Command = 'eval' | 'test' | 'check' | 'build' | 'fmt' | 'inspect' | 'deps'
type Hints = Readonly<Record<string, string>>

const VERSIONS = 'it is not needed: each file is read in the version of Rego in which it parses'
const FILES = 'hidden files, node_modules and, where policies serve, *_test.rego are left out'
const CAPABILITIES = 'what the opa program that is found can do counts (tidegate version); opa takes it'
const FOR_ALL: Hints = {
  '--v0-compatible': VERSIONS,
  '--v1-compatible': VERSIONS,
  '--ignore': FILES,
  '--capabilities': CAPABILITIES,
}
const MEASURING = 'tidegate eval --cost tells what each package took'
const PARTIAL = 'a module cannot be evaluated in part; opa eval can'
const OPTIMISED = 'modules are compiled without; opa build -O optimises'
const SIGNING = 'opa sign signs the bundle that is built'

/** What to do in the place of flags of `opa` that are not here. */
const HINTS: Readonly<Record<Command, Hints>> = {
  eval: {
    '--coverage': 'tidegate test tells the coverage',
    '--explain': 'use print, or opa eval --explain',
    '--strict': 'tidegate check --strict DIR',
    '-S': 'tidegate check --strict DIR',
    '--schema': 'tidegate check --schema DIR',
    '-s': 'tidegate check --schema DIR',
    '--show-builtin-errors': 'tidegate eval --strict-builtin-errors ends with the first of them',
    '--target': 'it is always wasm',
    '-t': 'it is always wasm',
    '--stdin': 'give the query as an argument',
    '--package': 'give the whole path, as in data.a.b',
    '--import': 'give the whole path, as in data.a.b',
    '--metrics': MEASURING,
    '--instrument': MEASURING,
    '--profile': MEASURING,
    '--count': 'make bench-decisions measures',
    '--partial': PARTIAL,
    '-p': PARTIAL,
    '--unknowns': PARTIAL,
    '-u': PARTIAL,
    '--optimize': OPTIMISED,
    '-O': OPTIMISED,
  },
  test: {
    '--bench': 'opa test --bench measures tests',
    '--explain': 'use print, or opa test --explain',
    '--var-values': 'use print, or opa test --var-values',
    '--target': 'every test is run by opa, and again as WebAssembly',
    '-t': 'every test is run by opa, and again as WebAssembly',
    '--max-errors': 'all errors are told',
    '-m': 'all errors are told',
    '-s': 'it is --schema',
  },
  check: {
    '--max-errors': 'all errors are told',
    '-m': 'all errors are told',
    '-s': 'it is --schema',
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
    '--follow-symlinks': 'it is not needed: links are followed',
    '--wasm-include-print': 'bundles have no print; tidegate eval and test have it',
  },
  fmt: {
    '--drop-v0-imports': 'opa fmt --drop-v0-imports does',
    '--v0-v1': 'opa fmt --v0-v1 does',
    '--rego-v1': 'opa fmt --v0-v1 does',
    '--check-result': 'it is always checked',
  },
  inspect: {},
  deps: {},
}

/** What to do in the place of a flag that `opa` has under this command and `tidegate` has not; undefined for any other. */
export function hintForOpaFlag(command: string | undefined, flag: string): string | undefined {
  if (command === undefined || !Object.hasOwn(HINTS, command)) return undefined
  const hints = { ...FOR_ALL, ...HINTS[command as Command] }
  return Object.hasOwn(hints, flag) ? hints[flag] : undefined
}
