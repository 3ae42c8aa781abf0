import { AppError } from '../../errors/app-error.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { opaRegoVersion } from '../opa/opa-release.js'
import { pathKey } from '../values/path-key.js'
import { listRules } from '../wasm/module/export-rules.js'
import { isGenerated } from './generated-entrypoints.js'
import { callsRemovedBuiltin, looksLikeVersion1, parseModules } from './parse-modules.js'
import { readPlainModule } from './read-plain-module.js'
import type { RegoFile, RegoModule } from './rego-module.js'

/** Modules that OPA's parser has not parsed. */
const unconfirmed = new WeakSet<RegoModule>()

function isConfirmed(module: RegoModule): boolean {
  return !unconfirmed.has(module)
}

/**
 * Returns the modules of all files in order. Modules in a plain form are read here, all others by
 * `parseModules`, with its errors. Compiling shows if a plain module is valid Rego of the expected
 * version; if it fails, `confirmModules` parses the module.
 */
export async function readModules(opa: OpaProgram, files: readonly RegoFile[]): Promise<RegoModule[]> {
  if (files.length === 0) return []
  const defaultVersion = await opaRegoVersion(opa)
  const read = new Map<string, RegoModule>()
  for (const file of files) {
    const isOlder = defaultVersion === 0 ? !looksLikeVersion1(file) : callsRemovedBuiltin(file)
    // Version 0 with keywords of version 1 has forms of both.
    const module =
      isOlder && file.text.includes('import') && /\bfuture\b/.test(file.text)
        ? undefined
        : readPlainModule(file, isOlder ? 0 : 1)
    if (module === undefined) continue
    unconfirmed.add(module)
    read.set(file.file, module)
  }
  return await withParsed(opa, files, read)
}

/**
 * Returns modules as OPA's parser reads them; unchanged modules keep their identity. Raises as
 * `parseModules`.
 */
export async function confirmModules(opa: OpaProgram, modules: readonly RegoModule[]): Promise<RegoModule[]> {
  const known = new Map(modules.filter(isConfirmed).map((module) => [module.file, module]))
  const confirmed = await withParsed(opa, modules, known)
  return confirmed.map((module, place) => {
    const before = modules[place]
    if (before === undefined || JSON.stringify(before) !== JSON.stringify(module)) return module
    unconfirmed.delete(before)
    return before
  })
}

/** Error code for compiled rules that were not read. */
export const UNREAD_RULES = 'unread_rules'

/**
 * Raises `invalid` if OPA compiled a rule that unparsed modules do not list. Such a module was read
 * wrongly, and the rule would be missing.
 */
export function refuseUnreadRules(modules: readonly RegoModule[], wasm: Uint8Array): void {
  if (modules.every(isConfirmed)) return
  const known = new Set(modules.flatMap(keysOf))
  const unread = listRules(wasm).find((key) => !known.has(key) && !isGenerated(key))
  if (unread !== undefined)
    throw new AppError('invalid', `OPA has a rule ${unread} that was not read`, { code: UNREAD_RULES })
}

/**
 * OPA compiles a function without parameters as a rule. Functions in plain modules have parameters.
 */
function keysOf(module: RegoModule): string[] {
  const rules = isConfirmed(module) ? module.rules : module.rules.filter(({ isFunction }) => !isFunction)
  return rules.map(({ path }) => pathKey([...module.packagePath, ...path]))
}

async function withParsed(
  opa: OpaProgram,
  files: readonly RegoFile[],
  known: ReadonlyMap<string, RegoModule>,
): Promise<RegoModule[]> {
  const parsed = await parseModules(
    opa,
    files.filter(({ file }) => !known.has(file)),
  )
  const all = new Map([...known, ...parsed.map((module) => [module.file, module] as const)])
  return files.flatMap(({ file }) => all.get(file) ?? [])
}
