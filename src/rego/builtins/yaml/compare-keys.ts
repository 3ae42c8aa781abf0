/** Go yaml's order of keys: numbers inside them by value, letters after other signs. Negative, zero or positive. */
export function compareYamlKeys(a: string, b: string): number {
  const [x, y] = [Array.from(a), Array.from(b)]
  const at = x.findIndex((character, i) => character !== y[i])
  const [left, right] = [x[at], y[at]]
  if (left === undefined || right === undefined) return x.length - y.length
  const [isLeftLetter, isRightLetter] = [isLetter(left), isLetter(right)]
  if (isLeftLetter !== isRightLetter) return isRightLetter ? -1 : 1
  if (!isLeftLetter) {
    const order = compareNumbersAt(x, y, at)
    if (order !== 0) return order
  }
  return (left.codePointAt(0) ?? 0) - (right.codePointAt(0) ?? 0)
}

function compareNumbersAt(x: readonly string[], y: readonly string[], at: number): number {
  // With a leading digit before, `100` must count as more than `10`.
  const lead = (x[at] === '0' || y[at] === '0') && hasLeadBefore(x, at) ? '1' : '0'
  const [a, b] = [digitsFrom(x, at), digitsFrom(y, at)]
  const [m, n] = [BigInt(lead + a), BigInt(lead + b)]
  if (m !== n) return m < n ? -1 : 1
  return a.length - b.length
}

function hasLeadBefore(characters: readonly string[], at: number): boolean {
  for (let i = at - 1; i >= 0 && isDigit(characters[i]); i--) {
    if (characters[i] !== '0') return true
  }
  return false
}

function digitsFrom(characters: readonly string[], at: number): string {
  let end = at
  while (isDigit(characters[end])) end++
  return characters.slice(at, end).join('')
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}

function isLetter(character: string): boolean {
  return /^\p{L}$/u.test(character)
}
