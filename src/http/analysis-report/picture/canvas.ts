import { columnsOf, LETTER } from './letters.js'

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

  /** Fills a rectangle. */
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

/** Width of a text in pixels. */
export function textWidth(text: string, size: number): number {
  return Math.max(0, Array.from(text).length * LETTER.advance - 1) * size
}
