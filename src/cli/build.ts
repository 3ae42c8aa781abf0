import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'

import { BUNDLE_ALGORITHMS } from '../config/values/bundle-algorithms.js'
import { loadConfig } from '../config/load-config.js'
import { AppError, toError } from '../errors/app-error.js'
import {
  MANIFEST_FILE,
  MAX_PORTABLE_ENTRYPOINTS,
  NO_VERIFICATION,
  analyseParts,
  compilePolicies,
  isJwsAlgorithm,
  loadSnapshot,
  packBundle,
  pathKey,
  pathOfKey,
  namesWithoutPlace,
  publicNames,
  readOwnManifest,
  readSigningKey,
  verificationBy,
  type BundleSigner,
  type CompiledPolicies,
  type OwnManifest,
} from '../rego/index.js'
import { parseJson } from '../lib/json/text/parse-json.js'
import { unreadableFile } from './input/read-document.js'
import { nearestName } from '../lib/text/nearest-name.js'
import { parseEntrypoint } from './input/parse-entrypoint.js'
import { EXIT, wrongUse } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { failsOnWarnings, findInputWarnings, reportWarnings } from './input/find-warnings.js'
import type { SchemaOptions } from './input/find-warnings.js'
import { loadOptions } from './input/open-policies.js'
import { Progress } from './output/progress.js'
import { count } from './output/text-table.js'
import {
  addConfigOption,
  addSchemaOption,
  addOutputOptions,
  addVersionOptions,
  addWarningOption,
  allDataOption,
  capabilitiesOption,
  examples,
  outJson,
  policyFlags,
  repeatable,
} from './session/shared-options.js'
import type { OutputOptions, PolicyOptions, WarningOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'

interface SigningOptions {
  readonly signingKey?: string | undefined
  readonly signingAlg: string
  readonly claimsFile?: string | undefined
}

interface BuildOptions
  extends OutputOptions, Omit<PolicyOptions, 'signingAlg'>, SchemaOptions, SigningOptions, WarningOptions {
  readonly entrypoint?: readonly string[]
  readonly output: string
  readonly revision?: string
  readonly root?: readonly string[]
}

const COMPILE_OPTIONS = { includeTests: false, maxEntrypoints: MAX_PORTABLE_ENTRYPOINTS }

/** `tidegate build`: compiles Rego directories to an OPA bundle. */
export function defineBuild(command: Command, session: Session): void {
  addOutputOptions(addWarningOption(addSchemaOption(addConfigOption(addVersionOptions(command)))))
    .description(
      'Compiles Rego directories to an OPA bundle with policy.wasm, data.json and .manifest. The same sources always produce the same bytes, wherever they are.',
    )
    .argument('[dir...]', 'directories with Rego and data.json or data.yaml')
    .option('-o, --output <file>', 'bundle to write', 'bundle.tar.gz')
    .option('-b, --bundle', 'accepted as in opa build; directories always have the layout of bundles')
    .addOption(allDataOption())
    .addOption(
      repeatable(
        '-e, --entrypoint <path>',
        'a package or rule that must be an entrypoint; all of them are, so this only detects wrong names; repeatable',
      ),
    )
    .addOption(new Option('-t, --target <target>', 'accepted as in opa build').choices(['wasm']))
    .option('-r, --revision <text>', 'revision of the bundle (default: a digest of the sources)')
    .addOption(
      repeatable(
        '--root <path>',
        'a data path that the bundle owns; repeatable (default: its packages and data)',
      ),
    )
    .option('--opa <file>', 'opa program for compiling')
    .option('--signing-key <file>', 'sign the bundle with this private key (PEM) or secret')
    .addOption(
      new Option('--signing-alg <name>', 'algorithm of the signature')
        .choices(BUNDLE_ALGORITHMS)
        .default('RS256'),
    )
    .option('--claims-file <file>', 'JSON file with keyid and scope for the signature, as in opa build')
    .addOption(capabilitiesOption())
    .addHelpText('after', examples('tidegate build policies -o bundle.tar.gz --revision 2.1.0'))
    .action(async (directories: readonly string[], options: BuildOptions) => {
      session.exitCode = await build(directories, options, session.terminal)
    })
}

async function build(
  given: readonly string[],
  { entrypoint: wanted = [], data = [], signingKey, signingAlg, claimsFile, ...options }: BuildOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const config = loadConfig({ file: options.config, env: terminal.env, flags: policyFlags(options) })
  const load = loadOptions(config, terminal)
  const signer = readSigner({ signingKey, signingAlg, claimsFile })
  const directories = [...given, ...data]
  if (directories.length === 0) throw wrongUse("missing required argument 'dir'")
  // The bytes and the revision do not depend on the location of the directories.
  const { file: nameFile } = publicNames(directories, [])
  const nameInRevision = namesWithoutPlace(directories)
  const compiling = { ...COMPILE_OPTIONS, includesAllData: data.length > 0, nameFile, nameInRevision }
  const work = load.findOpa().then((opa) => compilePolicies(opa, directories, compiling))
  const compiled = await new Progress(terminal).during('compiling policies …', work)
  refuseUnknownEntrypoints(wanted, compiled)
  const warnings = [
    ...(load.analysis === undefined ? [] : await analyseParts([compiled], compiled.data, load.analysis)),
    ...(await findInputWarnings(directories, options, config.policies, load)),
  ]
  reportWarnings(warnings, options.format, terminal)
  if (failsOnWarnings(warnings, options)) {
    if (options.format === 'json') outJson(terminal, { file: null, warnings })
    else terminal.err(`${options.output} was not written because of ${count(warnings.length, 'warning')}\n`)
    return EXIT.denied
  }
  const own = await readSourceManifest(directories)
  const named = own.revision === '' ? undefined : own.revision
  const revision = options.revision ?? named ?? compiled.revision
  const roots = options.root ?? own.roots ?? undefined
  const metadata = own.metadata ?? undefined
  const bytes = await packBundle(compiled, { revision, roots, metadata, signer })
  const verification = signer === undefined ? NO_VERIFICATION : verificationBy(signer)
  await replaceFile(options.output, bytes, async (file) => {
    const trial = { ...load, isTrial: true, verification: () => verification }
    await loadSnapshot({ directories: [], bundles: [file] }, trial)
  })
  const packages = new Set(compiled.packages.map(pathKey)).size
  if (options.format === 'json')
    outJson(terminal, { file: options.output, revision, bytes: bytes.length, packages, warnings })
  else
    terminal.out(
      `${options.output}: ${count(packages, 'package')}, ${bytes.length} bytes, revision ${revision}\n`,
    )
  return EXIT.fine
}

/**
 * Returns the manifest of a single directory. Like `opa build`, it ignores manifests if there are
 * several directories.
 */
async function readSourceManifest([directory = '', ...others]: readonly string[]): Promise<OwnManifest> {
  const file = join(directory, MANIFEST_FILE)
  if (others.length > 0 || !existsSync(file)) return {}
  return readOwnManifest(file, await readFile(file, 'utf8'))
}

/** The claims of `opa build` that signatures have. */
const Claims = z.object({ keyid: z.string().min(1).optional(), scope: z.string().optional() })

/** Returns the key of `--signing-key`. Raises `invalid` for files that cannot be used. */
function readSigner({ signingKey, signingAlg, claimsFile }: SigningOptions): BundleSigner | undefined {
  if (signingKey === undefined) {
    if (claimsFile !== undefined) throw wrongUse('--claims-file needs --signing-key')
    return undefined
  }
  if (!isJwsAlgorithm(signingAlg)) throw wrongUse(`unknown algorithm ${signingAlg}`)
  const signer = { algorithm: signingAlg, key: readKey('--signing-key', signingKey) }
  try {
    readSigningKey(signer)
  } catch (raw) {
    throw new AppError('invalid', `--signing-key ${signingKey}: ${toError(raw).message}`, { cause: raw })
  }
  if (claimsFile === undefined) return signer
  const claims = Claims.safeParse(parseJson(readKey('--claims-file', claimsFile)))
  if (!claims.success)
    throw new AppError('invalid', `${claimsFile} must be a JSON object with the texts keyid and scope`)
  return { ...signer, keyId: claims.data.keyid, scope: claims.data.scope }
}

function readKey(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (raw) {
    throw new AppError('invalid', `${flag}: ${unreadableFile(file, raw).message}`, { cause: raw })
  }
}

/** Raises `invalid` naming unknown entrypoints. */
function refuseUnknownEntrypoints(wanted: readonly string[], { entrypoints }: CompiledPolicies): void {
  const known = [...entrypoints.keys()].map((key) => pathOfKey(key).join('/'))
  const unknown = wanted
    .map((path) => parseEntrypoint(path).join('/'))
    .filter((path) => !known.includes(path))
  if (unknown.length === 0) return
  const hints = unknown.map((path) => {
    const near = nearestName(path, known)
    return near === undefined ? path : `${path} (did you mean ${near}?)`
  })
  throw new AppError('invalid', `no package or rule is called ${hints.join(', ')}`)
}

/**
 * Writes to a temporary file and renames it after `verify`, so readers never see an incomplete
 * file.
 */
async function replaceFile(
  file: string,
  bytes: Uint8Array,
  verify: (file: string) => Promise<void>,
): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(temporary, bytes)
    await verify(temporary)
    await rename(temporary, file)
  } catch (raw) {
    await rm(temporary, { force: true }).catch(() => undefined)
    if (raw instanceof AppError) {
      const { kind, code, details } = raw
      throw new AppError(kind, raw.message.replaceAll(temporary, file), { code, details, cause: raw })
    }
    throw new AppError('invalid', `write ${file}: ${toError(raw).message}`, { cause: raw })
  }
}
