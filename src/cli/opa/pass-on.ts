import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'

import { loadConfig } from '../../config/load-config.js'
import { inTemporaryDirectory } from '../../lib/temporary-directory.js'
import { MANIFEST_FILE, readOwnManifest } from '../../pdp/archive/manifest.js'
import { collectSources } from '../../pdp/compile/collect-sources.js'
import { parseModules } from '../../pdp/compile/parse-modules.js'
import type { RegoModule } from '../../pdp/compile/rego-module.js'
import { stageBundle } from '../../pdp/compile/stage-bundle.js'
import { readData } from '../../pdp/data/base-document.js'
import type { DataFile } from '../../pdp/data/load-data.js'
import { regoVersionFlags } from '../../pdp/opa/opa-release.js'
import { runOpa } from '../../pdp/opa/run-opa.js'
import type { OpaProgram } from '../../pdp/opa/find-opa.js'
import { loadOptions } from '../input/open-policies.js'
import { orShipped } from '../input/shipped-policies.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { policyFlags } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'

/** The flags of commands that pass on to `opa`. */
export interface PassOnOptions extends OutputOptions {
  readonly config?: string
  readonly opa?: string
}

/**
 * Runs `opa` in a bundle of the files that are policies here, tests left out, each in its version of Rego and under its own name; base documents
 * are merged into one. Raises `invalid` for what does not parse.
 */
export async function passOn(
  named: readonly string[],
  options: PassOnOptions,
  terminal: Terminal,
  args: readonly string[],
): Promise<ExitCode> {
  const { config, opa } = await openOpa(options, terminal)
  const directories = named.length > 0 ? named : orShipped(config.policies.directories)
  const sources = await collectSources(directories, { includeTests: false })
  const modules = await parseModules(opa, sources.rego)
  return await inTemporaryDirectory(async (temporary) => {
    const cwd = join(temporary, 'bundle')
    await stageBundle(cwd, modules, readData(sources.data).data, ({ file }) => nameWithin(file))
    const isShown = args[0] === 'inspect'
    if (isShown) await showData(cwd, directories, sources.data)
    const flags = isShown ? await withOwnManifest(opa, modules, cwd, directories) : []
    return await runIn(opa, [...args, ...flags], terminal, cwd)
  })
}

/** Puts the data of one directory where it stands in that; of several it stays merged. Where there is none, there is no file. */
async function showData(
  bundle: string,
  directories: readonly string[],
  data: readonly DataFile[],
): Promise<void> {
  if (data.length > 0 && directories.length > 1) return
  await rm(join(bundle, 'data.json'))
  for (const { file, at, content } of data) {
    const folder = join(bundle, ...at)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, basename(file)), content)
  }
}

/**
 * Puts the manifest of one directory in the place of the staged one, with the versions of files; where it has none, takes the staged one away if a
 * flag can say the version of all modules as well, and gives that flag.
 */
async function withOwnManifest(
  opa: OpaProgram,
  modules: readonly RegoModule[],
  bundle: string,
  [directory = '', ...others]: readonly string[],
): Promise<string[]> {
  const staged = join(bundle, MANIFEST_FILE)
  const own = join(directory, MANIFEST_FILE)
  if (others.length === 0 && existsSync(own)) {
    const isNew = modules.every((module) => module.version === 1)
    const versions: unknown = isNew ? { rego_version: 1 } : JSON.parse(await readFile(staged, 'utf8'))
    const manifest = Object.assign({}, versions, readOwnManifest(own, await readFile(own, 'utf8')))
    await writeFile(staged, JSON.stringify(manifest))
    return []
  }
  const [version, ...more] = new Set(modules.map((module) => module.version))
  if (version === undefined || more.length > 0) return []
  await rm(staged)
  return await regoVersionFlags(opa, version)
}

/** The configuration and the program that it names, or that is found. */
export async function openOpa(options: PassOnOptions, terminal: Terminal) {
  const config = loadConfig({ file: options.config, env: terminal.env, flags: policyFlags(options) })
  return { config, opa: await loadOptions(config, terminal).findOpa() }
}

/** Runs `opa` and prints what it prints. */
export async function runIn(
  opa: OpaProgram,
  args: readonly string[],
  terminal: Terminal,
  cwd: string,
): Promise<ExitCode> {
  const run = await runOpa(opa, args, { cwd })
  terminal.out(run.stdout)
  terminal.err(run.stderr)
  return run.exitCode === 0 ? EXIT.fine : EXIT.error
}

/** The path of a file from here, or from the root where it is elsewhere. */
function nameWithin(file: string): string {
  const path = relative('.', file)
  return (path.startsWith('..') ? resolve(file) : path).replaceAll('\\', '/').replace(/^(?:\w:)?\/+/, '')
}
