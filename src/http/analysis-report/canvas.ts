import { crc32, deflateSync } from 'node:zlib'

/** Dimensions of a character in pixels. Two of the rows are below the baseline. */
export const LETTER = { width: 5, height: 8, advance: 6 } as const

const FIRST = 0x20

/**
 * Bitmap font for printable ASCII: five bytes per character, one per column, lowest bit at the top.
 */
const COLUMNS = Buffer.from(
  '000000000000005f00000007000700147f147f14242a7f2a12231308646236495620500008070300001c2241000041221c00' +
    '2a1c7f1c2a08083e080800807030000808080808000060600020100804023e5149453e00427f400072494949462141494d33' +
    '1814127f1027454545393c4a49493141211109073649494936464949291e0000140000004034000000081422411414141414' +
    '004122140802015909063e415d594e7c1211127c7f494949363e414141227f4141413e7f494949417f090909013e41415173' +
    '7f0808087f00417f41002040413f017f081422417f404040407f021c027f7f0408107f3e4141413e7f090909063e4151215e' +
    '7f09192946264949493203017f01033f4040403f1f2040201f3f4038403f631408146303047804036159494d43007f414141' +
    '0204081020004141417f04020102044040404040000307080020545478407f284444383844444428384444287f3854545418' +
    '00087e090218a4a49c787f0804047800447d40002040403d007f1028440000417f40007c047804787c080404783844444438' +
    'fc1824241818242418fc7c08040408485454542404043f44243c4040207c1c2040201c3c4030403c44281028444c9090907c' +
    '4464544c440008364100000077000000413608000201020402',
  'hex',
)

/** Returns the columns of a character. Characters outside ASCII become a question mark. */
function columnsOf(character: string): Uint8Array {
  const place = (character.codePointAt(0) ?? 0) - FIRST
  const known = place >= 0 && place < COLUMNS.length / LETTER.width ? place : '?'.charCodeAt(0) - FIRST
  return COLUMNS.subarray(known * LETTER.width, (known + 1) * LETTER.width)
}

/** Red, green and blue, 0 to 255. */
export type Colour = readonly [number, number, number]
/** A position or size in pixels, horizontal first, from the top left corner. */
export type Place = readonly [number, number]

const CHANNELS = 3
const WHITE = 255

/** An RGB picture in memory, initially white. Drawing outside it is ignored. */
export class Canvas {
  readonly width: number
  readonly height: number
  /** Three bytes per pixel, row by row. */
  readonly pixels: Uint8Array

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.pixels = new Uint8Array(width * height * CHANNELS).fill(WHITE)
  }
  rectangle([left, top]: Place, [width, height]: Place, colour: Colour): void {
    for (let y = top; y < top + height; y += 1) {
      for (let x = left; x < left + width; x += 1) this.#blend(x, y, colour, 1)
    }
  }

  /** Draws an antialiased line. */
  line([x1, y1]: Place, [x2, y2]: Place, width: number, colour: Colour): void {
    const [dx, dy] = [x2 - x1, y2 - y1]
    const squared = dx * dx + dy * dy
    const reach = width / 2 + 1
    for (let y = Math.floor(Math.min(y1, y2) - reach); y <= Math.max(y1, y2) + reach; y += 1) {
      for (let x = Math.floor(Math.min(x1, x2) - reach); x <= Math.max(x1, x2) + reach; x += 1) {
        const along = squared === 0 ? 0 : ((x - x1) * dx + (y - y1) * dy) / squared
        const nearest = Math.max(0, Math.min(1, along))
        const distance = Math.hypot(x - x1 - nearest * dx, y - y1 - nearest * dy)
        this.#blend(x, y, colour, Math.max(0, Math.min(1, width / 2 + 0.5 - distance)))
      }
    }
  }

  /** Writes text with its top left corner at the position. `size` multiplies the 5 x 8 font. */
  text(text: string, [left, top]: Place, size: number, colour: Colour): void {
    let x = left
    for (const character of text) {
      columnsOf(character).forEach((column, place) => {
        for (let row = 0; row < LETTER.height; row += 1) {
          if ((column >> row) % 2 === 0) continue
          this.rectangle([x + place * size, top + row * size], [size, size], colour)
        }
      })
      x += LETTER.advance * size
    }
  }

  #blend(x: number, y: number, colour: Colour, share: number): void {
    if (share <= 0 || x < 0 || y < 0 || x >= this.width || y >= this.height) return
    const at = (y * this.width + x) * CHANNELS
    colour.forEach((value, channel) => {
      const before = this.pixels[at + channel] ?? WHITE
      this.pixels[at + channel] = Math.round(before + (value - before) * share)
    })
  }
}
export function textWidth(text: string, size: number): number {
  return Math.max(0, Array.from(text).length * LETTER.advance - 1) * size
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const BITS_A_CHANNEL = 8
const TRUE_COLOUR = 2

/** Encodes a picture as PNG (ISO/IEC 15948) with 8 bits per channel and unfiltered rows. */
export function encodePng({ width, height, pixels }: Canvas): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([BITS_A_CHANNEL, TRUE_COLOUR], 8)
  const stride = width * CHANNELS
  const rows = Buffer.alloc(height * (stride + 1))
  for (let row = 0; row < height; row += 1) {
    rows.set(pixels.subarray(row * stride, (row + 1) * stride), row * (stride + 1) + 1)
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
