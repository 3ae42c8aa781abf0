/**
 * Files of a package once more made smaller: what the bundler leaves of dead code and long names is a fortieth of the package. Lines are broken
 * where statements, members and items begin, so that a stack trace still tells where.
 */
import { minify } from 'terser'
import ts from 'typescript'

const LINE_LIMIT = 3600
const ECMA = 2022
/** Lists of a syntax tree before whose items a line may end. */
const LISTS = ['statements', 'members', 'properties', 'elements', 'arguments']

/** The text of an ES module, smaller and with the same exports. Functions stay what they are called as: none is put in place of its call. */
export async function minifyModule(text) {
  const { code } = await minify(text, {
    module: true,
    ecma: ECMA,
    compress: { ecma: ECMA, passes: 1, inline: 0, sequences: false, keep_fargs: true },
    mangle: { toplevel: true },
    format: { comments: false, ecma: ECMA },
  })
  return breakLines(code)
}

function breakLines(code) {
  const tree = ts.createSourceFile('module.js', code, ts.ScriptTarget.ESNext, false, ts.ScriptKind.JS)
  const starts = new Set()
  const visit = (node) => {
    for (const list of LISTS) for (const item of node[list] ?? []) starts.add(item.getStart(tree))
    ts.forEachChild(node, visit)
  }
  visit(tree)
  const lines = []
  let [from, last] = [0, 0]
  for (const start of [...starts].sort((one, other) => one - other)) {
    if (start - from > LINE_LIMIT && last > from) {
      lines.push(code.slice(from, last))
      from = last
    }
    last = start
  }
  return [...lines, code.slice(from)].join('\n')
}
