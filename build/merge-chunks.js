/**
 * What the bundler splits off for each set of entry points is many small files, and opening one costs a start as much as 20 KB of code. Here files
 * are put together wherever that saves more than the code costs that is then loaded without need.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build } from 'esbuild'

/** What opening a file costs, in bytes of code. */
const FILE_BYTES = 20_000
/** What these cost beside their own code: Node reads, compiles and keeps what is behind them only when one is first named. */
const HEAVY = new Map([
  ['node:tls', 200_000],
  ['node:https', 250_000],
])
/** An import statement of the bundler's. */
const IMPORT = /import(?:(?<names>\{[^}]*\})from)?"(?<path>\.[^"]+)"/g

/** Merges files in `out`, the folder of a build, and gives the names of those that are left, relative to it. */
export async function mergeChunks(out, { outputs }, options) {
  const files = describeFiles(out, outputs)
  const groups = chooseGroups(files).filter((group) => group.length > 1)
  const places = new Map()
  for (const group of groups) places.set(group, await writeGroup(out, group, options))
  const moved = new Map(
    groups.flatMap((group) => {
      const { file, names } = places.get(group)
      return group.map((chunk) => [chunk.name, { file, names: names.get(chunk.name) }])
    }),
  )
  for (const group of groups) for (const { path } of group) rmSync(join(out, path))
  const left = [
    ...files.filter(({ name }) => !moved.has(name)).map(({ path }) => path),
    ...[...places.values()].map(({ file }) => `chunks/${file}`),
  ]
  for (const path of left) redirectImports(join(out, path), moved)
  return new Set(left)
}

function describeFiles(out, outputs) {
  const paths = Object.keys(outputs).filter((path) => path.endsWith('.js'))
  const indexes = new Map(paths.map((path, index) => [path, index]))
  return paths.map((path) => {
    const { bytes, imports, exports, entryPoint } = outputs[path]
    const needed = imports.filter(({ kind, external }) => kind === 'import-statement' && external !== true)
    const inside = path.slice(path.lastIndexOf(`${basename(out)}/`) + basename(out).length + 1)
    return {
      path: inside,
      name: basename(path),
      bytes: bytes + imports.reduce((sum, { path: name }) => sum + (HEAVY.get(name) ?? 0), 0),
      exports,
      isEntry: entryPoint !== undefined,
      needs: needed.map((one) => indexes.get(one.path)),
    }
  })
}

/** Puts the smallest first with whatever it saves most with, until nothing is saved any more. */
function chooseGroups(files) {
  let nodes = files.map((file, index) => ({
    members: [file],
    bytes: file.bytes,
    isEntry: file.isEntry,
    below: closure(files, index),
  }))
  // Positions of nodes stay; one that was merged into another is undefined.
  const loads = nodes.flatMap(({ isEntry, below }) => (isEntry ? [below] : []))
  for (let isChanged = true; isChanged;) {
    isChanged = false
    const order = nodes
      .flatMap((node, index) => (node === undefined || node.isEntry ? [] : [index]))
      .sort((a, b) => nodes[a].bytes - nodes[b].bytes)
    for (const index of order) {
      if (nodes[index] === undefined) continue
      const best = bestPartner(nodes, loads, index, order)
      if (best === undefined) continue
      merge(nodes, loads, index, best)
      isChanged = true
    }
  }
  return nodes.flatMap((node) => (node === undefined ? [] : [node.members]))
}

/** All that a file needs, itself included. */
function closure(files, start) {
  const found = new Set([start])
  for (const index of found) for (const next of files[index].needs) found.add(next)
  return found
}

function bestPartner(nodes, loads, index, order) {
  let best
  let most = 0
  for (const other of order) {
    if (other === index || nodes[other] === undefined || makesCircle(nodes, index, other)) continue
    const saved = savedBytes(nodes, loads, index, other)
    if (saved > most) [most, best] = [saved, other]
  }
  return best
}

/** Whether one needs the other by way of a third. */
function makesCircle(nodes, one, other) {
  const [above, target] = nodes[one].below.has(other) ? [one, other] : [other, one]
  if (!nodes[above].below.has(target)) return false
  return [...nodes[above].below].some(
    (third) => third !== above && third !== target && nodes[third].below.has(target),
  )
}

function savedBytes(nodes, loads, one, other) {
  let saved = 0
  for (const loaded of loads) {
    const [hasOne, hasOther] = [loaded.has(one), loaded.has(other)]
    if (hasOne && hasOther) saved += FILE_BYTES
    else if (hasOne || hasOther) {
      const missing = nodes[hasOne ? other : one]
      saved -= missing.bytes
      for (const index of missing.below)
        if (nodes[index] !== missing && !loaded.has(index)) saved -= nodes[index].bytes + FILE_BYTES
    }
  }
  return saved
}

/** The second becomes part of the first. */
function merge(nodes, loads, one, other) {
  const [kept, gone] = [nodes[one], nodes[other]]
  const below = new Set([...kept.below, ...gone.below])
  below.delete(other)
  kept.members = [...kept.members, ...gone.members]
  kept.bytes += gone.bytes
  kept.below = below
  nodes[other] = undefined
  for (const set of [...loads, ...nodes.flatMap((node) => node?.below ?? [])]) {
    if (!set.delete(other) && !set.has(one)) continue
    for (const index of below) set.add(index)
  }
}

/** One file for several. What two of them call alike is given numbers. */
async function writeGroup(out, group, options) {
  const folder = join(out, 'chunks')
  const taken = new Set()
  const names = new Map()
  const lines = group.map(({ name, exports }, number) => {
    const renamed = new Map(exports.map((each) => [each, taken.has(each) ? `${each}$${number}` : each]))
    renamed.forEach((each) => taken.add(each))
    names.set(name, renamed)
    const list = [...renamed].map(([from, to]) => `${from} as ${to}`)
    return `import "./${name}"\nexport { ${list.join(', ')} } from "./${name}"`
  })
  const members = new Set(group.map(({ name }) => name))
  const others = {
    name: 'others',
    setup: (bundler) =>
      bundler.onResolve({ filter: /^\.{1,2}\// }, ({ path }) =>
        members.has(basename(path)) ? undefined : { path, external: true },
      ),
  }
  const { outputFiles } = await build({
    ...options,
    stdin: { contents: lines.join('\n'), resolveDir: folder },
    outfile: join(folder, 'merged.js'),
    bundle: true,
    write: false,
    packages: 'external',
    plugins: [others],
  })
  const file = group[0].name
  const merged = `merged-${file}`
  writeFileSync(join(folder, merged), outputFiles[0].contents)
  return { file: merged, names }
}

/** Has a file import from where things are now. */
function redirectImports(file, moved) {
  const text = readFileSync(file, 'utf8')
  const redirected = text.replace(IMPORT, (statement, names, path) => {
    const place = moved.get(basename(path))
    if (place === undefined) return statement
    const target = `"${dirname(path)}/${place.file}"`
    if (names === undefined) return `import${target}`
    const list = names
      .slice(1, -1)
      .split(',')
      .filter((each) => each !== '')
    const renamed = list.map((each) => {
      const [from, to = from] = each.trim().split(/\s+as\s+/)
      const now = place.names.get(from)
      return now === to ? to : `${now} as ${to}`
    })
    return `import{${renamed.join(',')}}from${target}`
  })
  writeFileSync(file, redirected)
}
