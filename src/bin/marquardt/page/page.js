const { formula, content, render: show } = data.kind === 'many' ? pageOfMany() : pageOfFits();
document.title = data.title;
document.body.append(make('header', {}, make('div', {}, make('h1', { text: data.title }), make('p', { class: 'formula', text: formula })),
  make('div', { class: 'tools' }, button('Light / dark', theme.flip), button('Print', () => print()))), make('main', {}, ...content));
show();
