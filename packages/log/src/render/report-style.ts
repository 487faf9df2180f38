import { trusted, type Html } from '@agent-exchange/web/html'

/** Printed on A4: closed details are left out, so that a reader gets one sheet. */
export const REPORT_STYLE: Html = trusted(`<style>:root{color-scheme:light dark} body{font:11pt/1.45
Georgia,serif;max-width:50rem;margin:2rem auto;padding:0
1rem;color:CanvasText;background:Canvas;overflow-wrap:anywhere}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin:1.5rem 0 .5rem;border-bottom:1px solid GrayText}
.verdict{border:2px solid;padding:1rem;font-size:1.1rem}.good{border-color:light-dark(#176b2c,#7fd492)}
.warn{border-color:light-dark(#8a5a00,#e6b450)}.bad{border-color:light-dark(#a00000,#ff8a80);color:light-dark(#a00000,#ff8a80)}
table{border-collapse:collapse;width:100%;font-size:.9em;margin-top:1.5rem}th,td{border:1px solid
GrayText;padding:.3rem;text-align:left;vertical-align:top}th{white-space:nowrap}
pre{white-space:pre-wrap;font-size:.85em}ul{padding-left:1.2rem;margin:.5rem
0}details{margin-top:.75rem}summary{cursor:pointer;padding:.2rem 0} @page{size:A4;margin:12mm} @media
print{:root{color-scheme:light}body{font-size:8pt;line-height:1.25;margin:0;padding:0;max-width:none}h1{font-size:14pt;margin:0
0 3mm}h2{font-size:10.5pt;margin:3mm 0
1mm;break-after:avoid}.verdict{padding:3mm;font-size:9.5pt;margin:0}ul{margin:1mm
0}table{margin-top:3mm}tr,li{break-inside:avoid}details:not([open]){display:none}}</style>`)
