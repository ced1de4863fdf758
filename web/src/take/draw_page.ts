// A part of the page as a PNG, drawn on a canvas from what the browser laid out: charts, words, lines, with their
// computed styles. Nothing is decoded as an image, so the page's policy allows it as it is.

type Canvas = CanvasRenderingContext2D;

const SHARP = 2; // pixels of the picture in one of the page
const CLEAR = /^(none|transparent|rgba\(.*, 0\))$/;

const fontOf = ({ fontStyle, fontWeight, fontSize, fontFamily }: CSSStyleDeclaration) =>
  `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;

function fillBox(to: Canvas, color: string, x: number, y: number, width: number, height: number) {
  if (CLEAR.test(color) || width <= 0 || height <= 0) return;
  to.fillStyle = color;
  to.fillRect(x, y, width, height);
}

function drawBox(to: Canvas, element: Element, style: CSSStyleDeclaration) {
  const { left, top, width, height } = element.getBoundingClientRect();
  fillBox(to, style.backgroundColor, left, top, width, height);
  const wide = (side: 'Top' | 'Right' | 'Bottom' | 'Left') =>
    style[`border${side}Style`] === 'none' ? 0 : Number.parseFloat(style[`border${side}Width`]);
  fillBox(to, style.borderTopColor, left, top, width, wide('Top'));
  fillBox(to, style.borderBottomColor, left, top + height - wide('Bottom'), width, wide('Bottom'));
  fillBox(to, style.borderLeftColor, left, top, wide('Left'), height);
  fillBox(to, style.borderRightColor, left + width - wide('Right'), top, wide('Right'), height);
}

// Where the line of text in this box stands.
function baseline(to: Canvas, { top, height }: DOMRect): number {
  const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = to.measureText('x');
  return top + (height - above - below) / 2 + above;
}

// Word by word, each where the browser put it; letter by letter where it broke one.
function drawWords(to: Canvas, text: Text, style: CSSStyleDeclaration) {
  to.font = fontOf(style);
  to.fillStyle = style.color;
  const range = document.createRange();
  const draw = (start: number, end: number) => {
    range.setStart(text, start);
    range.setEnd(text, end);
    const boxes = range.getClientRects();
    if (boxes.length > 1 && end - start > 1) {
      for (let at = start; at < end; ++at) draw(at, at + 1);
    } else if (boxes[0]) {
      to.fillText(text.data.slice(start, end), boxes[0].left, baseline(to, boxes[0]));
    }
  };
  for (const { index, 0: word } of text.data.matchAll(/\S+/g)) draw(index, index + word.length);
}

function outline(shape: SVGGraphicsElement): Path2D | null {
  const path = new Path2D();
  if (shape instanceof SVGRectElement) {
    const { x, y, width, height, rx } = shape;
    path.roundRect(x.baseVal.value, y.baseVal.value, width.baseVal.value, height.baseVal.value, rx.baseVal.value);
  } else if (shape instanceof SVGCircleElement) {
    path.arc(shape.cx.baseVal.value, shape.cy.baseVal.value, shape.r.baseVal.value, 0, 2 * Math.PI);
  } else if (shape instanceof SVGLineElement) {
    path.moveTo(shape.x1.baseVal.value, shape.y1.baseVal.value);
    path.lineTo(shape.x2.baseVal.value, shape.y2.baseVal.value);
  } else if (shape instanceof SVGPathElement) {
    return new Path2D(shape.getAttribute('d') ?? '');
  } else {
    return null;
  }
  return path;
}

interface Paint {
  fill(): void;
  stroke(): void;
}

function paint(to: Canvas, style: CSSStyleDeclaration, { fill, stroke }: Paint) {
  const filled = () => {
    if (CLEAR.test(style.fill)) return;
    to.fillStyle = style.fill;
    to.globalAlpha = Number(style.opacity) * Number(style.fillOpacity);
    fill();
  };
  const stroked = () => {
    if (CLEAR.test(style.stroke)) return;
    to.strokeStyle = style.stroke;
    to.lineWidth = Number.parseFloat(style.strokeWidth);
    to.lineJoin = style.strokeLinejoin as CanvasLineJoin;
    to.setLineDash(style.strokeDasharray === 'none' ? [] : style.strokeDasharray.split(',').map(Number.parseFloat));
    to.globalAlpha = Number(style.opacity) * Number(style.strokeOpacity);
    stroke();
  };
  const steps = style.paintOrder.startsWith('stroke') ? [stroked, filled] : [filled, stroked];
  for (const step of steps) step();
}

function drawShape(to: Canvas, shape: SVGGraphicsElement, style: CSSStyleDeclaration) {
  const place = shape.getScreenCTM();
  if (!place) return;
  to.save();
  to.transform(place.a, place.b, place.c, place.d, place.e, place.f);
  if (shape instanceof SVGTextElement) {
    const words = [...shape.childNodes].filter((node) => node instanceof Text).map((node) => node.data).join('');
    if (shape.getNumberOfChars() > 0) {
      const { x, y } = shape.getStartPositionOfChar(0);
      to.font = fontOf(style);
      paint(to, style, { fill: () => to.fillText(words, x, y), stroke: () => to.strokeText(words, x, y) });
    }
  } else {
    const path = outline(shape);
    if (path) paint(to, style, { fill: () => to.fill(path), stroke: () => to.stroke(path) });
  }
  to.restore();
}

function draw(to: Canvas, element: Element) {
  const style = getComputedStyle(element);
  if (style.display === 'none' || style.visibility === 'hidden') return;
  if (element instanceof SVGGraphicsElement) drawShape(to, element, style);
  else if (element instanceof HTMLElement) drawBox(to, element, style);
  for (const node of element.childNodes) {
    if (node instanceof Element) draw(to, node);
    else if (node instanceof Text && element instanceof HTMLElement) drawWords(to, node, style);
  }
}

export async function drawn(element: HTMLElement): Promise<Blob> {
  const { left, top, width, height } = element.getBoundingClientRect();
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(width * SHARP);
  canvas.height = Math.ceil(height * SHARP);
  const to = canvas.getContext('2d')!;
  fillBox(to, getComputedStyle(element).backgroundColor, 0, 0, canvas.width, canvas.height);
  to.scale(SHARP, SHARP);
  to.translate(-left, -top);
  draw(to, element);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new Error('this browser makes no picture so large'));
    }, 'image/png'),
  );
}
