/** Prints the directory that node-gyp takes as `nodedir`: the one where the headers of the Node.js that runs this lie; nothing where there are none. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'

const directory = dirname(dirname(process.execPath))
if (headersVersion(directory) === process.versions.node) process.stdout.write(`${directory}\n`)

/** As `node_version.h` says it; headers of another version would build what does not load, or worse. */
function headersVersion(parent) {
  try {
    const text = readFileSync(join(parent, 'include/node/node_version.h'), 'utf8')
    return ['MAJOR', 'MINOR', 'PATCH']
      .map((part) => new RegExp(`NODE_${part}_VERSION (\\d+)`).exec(text)?.[1])
      .join('.')
  } catch {
    return undefined
  }
}
