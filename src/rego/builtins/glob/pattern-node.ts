/** A pattern as it is written. */
export type PatternNode =
  | { readonly kind: 'pattern'; readonly children: PatternNode[] }
  | { readonly kind: 'any-of'; readonly children: PatternNode[] }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly characters: string; readonly isNegated: boolean }
  | { readonly kind: 'range'; readonly low: number; readonly high: number; readonly isNegated: boolean }
  | { readonly kind: 'any' | 'super' | 'single' | 'nothing' }

export type Sequence = Extract<PatternNode, { kind: 'pattern' }>

/** Whether two parts are written alike, a list in the same order. */
export function equalNodes(a: PatternNode, b: PatternNode): boolean {
  if (a.kind === 'text' && b.kind === 'text') return a.text === b.text
  if (a.kind === 'list' && b.kind === 'list')
    return a.characters === b.characters && a.isNegated === b.isNegated
  if (a.kind === 'range' && b.kind === 'range')
    return a.low === b.low && a.high === b.high && a.isNegated === b.isNegated
  if (!hasChildren(a) || !hasChildren(b) || a.kind !== b.kind) return !hasChildren(a) && a.kind === b.kind
  const others = b.children
  return (
    a.children.length === others.length &&
    a.children.every((child, index) => {
      const other = others[index]
      return other !== undefined && equalNodes(child, other)
    })
  )
}

function hasChildren(node: PatternNode): node is Extract<PatternNode, { children: PatternNode[] }> {
  return node.kind === 'pattern' || node.kind === 'any-of'
}
