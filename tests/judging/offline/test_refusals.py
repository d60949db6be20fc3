from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.judging.offline.refusals import is_refusal

REFUSALS = r"""
Dazu haben wir keine Informationen.
Hierzu liegen mir keine Angaben vor.
Das ist uns leider nicht bekannt.
Dazu kann ich leider nichts sagen.
Zu dieser Frage habe ich nichts gefunden.
Leider enthalten unsere Hilfeseiten dazu keine Angaben.
Nous n'avons aucune information sur ce point.
Cette information n'est pas disponible.
Je n'ai pas trouvé de réponse dans notre documentation.
Nos pages d'aide ne contiennent pas cette information.
Nous ne disposons pas de cette information.
Malheureusement, je l'ignore.
No tenemos información al respecto.
No tenemos esa información.
No disponemos de información sobre eso.
No he encontrado información al respecto.
Esa información no está disponible.
Lamentablemente, no contamos con esa información.
Информация по этому вопросу отсутствует.
К сожалению, у нас нет такой информации.
Такой информации у нас нет.
Мы не располагаем этой информацией.
В базе знаний ответа нет.
Данных об этом нет.
その情報はございません。
その件についての情報は持ち合わせておりません。
提供された資料からは分かりません。
お答えできる情報がありません。
その質問にはお答えできません。
ヘルプページには記載がございません。
我们没有这方面的信息。
我们没有相关信息。
暂时没有这方面的资料。
资料中没有相关内容。
对此我们不清楚。
帮助页面中没有说明。
ليس لدينا معلومات عن ذلك.
لا تتوفر لدينا معلومات حول ذلك.
لا توجد لدي معلومات كافية للإجابة.
لا أملك هذه المعلومة.
المستندات لا تذكر ذلك.
عذرًا، لا أعرف الإجابة.
Bu konuda bilgimiz yok.
Bu konuda bilgi bulamadım.
Üzgünüm, bu soruyu yanıtlayamıyorum.
Bu bilgi mevcut değil.
Maalesef bu konuda bilgi sahibi değiliz.
Yardım sayfalarında bu bilgi yer almıyor.
No tenemos ninguna información sobre este producto.
Lo siento, no disponemos de esa información.
Esta información no se encuentra disponible en nuestros documentos.
Por el momento no contamos con información sobre ese tema.
Nous ne disposons d'aucune information à ce sujet.
Désolé, cette information n'est pas disponible dans nos articles.
Je l'ignore malheureusement.
La réponse n'est pas disponible.
К сожалению, мы не располагаем такими данными.
Информация о директоре отсутствует.
На наших страницах нет информации об этом.
Unsere Webseiten enthalten dazu keine Angaben.
目前没有关于这个问题的信息。
没有该方面的资料。
申し訳ないですが、その情報を持ち合わせていません。
ليست لدينا أي معلومات عن هذا الموضوع.
الوثائق لا تشير إلى ذلك.
لا نملك معلومات حول المدير.
Bu konuda bilgim yok.
Bu soruyu cevaplayamam.
Belgelerde bu bilgi bulunmuyor.
Ne yazık ki bu bilgi elimizde mevcut değil.
I do not know why the tool returned an error.
The documents do not say what happens when the search tool fails.
I don't have information about the error that the API returned.
The documents do not mention that the service timed out.
I don't have information about refunds due to a system error.
I cannot find the reason why the database could not be reached.
The context does not explain whether the request failed because the server was down.
I don't have access to real-time data at this time.
I don't have access to your account right now.
I can't find a current price in the documents at the moment.
I couldn't retrieve any relevant documents.
I don't know if the tool failed.
Currently I have no information about that.
I'm sorry, I don't have that information at the moment.
I don't know what to do if the search returned an error.
The documents do not say how to handle a failed request.
I could not find an answer about the connection error.
The documents don't describe any issue with the search tool.
I am unable to find the error code in the manual.
I have no information about a problem with the database.
The manual does not say which tool failed, and I cannot tell.
Ich weiß nicht, warum die Suche fehlgeschlagen ist.
Dazu habe ich keine Informationen, da der Text nur Werkzeuge beschreibt.
Je ne sais pas pourquoi l'outil a renvoyé une erreur.
Я не знаю, почему сервис вернул ошибку.
I couldn't find the information; the index of the handbook has no entry for it.
I don't know, as the database of prices is not included in the documents.
I do not know because the service contract is not part of the files.
I could not find it, since the search returned no results.
I'm sorry, but the knowledge base has nothing about this, so I can't answer.
I cannot tell, because the table does not list the network failures.
I have no information about how the model was broken in.
I don't have details, because the store is closed according to the page.
I can't say, the documents mention only that the service was down in May.
The tool documentation does not mention this, so I can't answer.
I don't know, because the search results only mention tigers.
I'm not sure, the API is not described in the context.
We don't have that information, because the system description ends on page 3.
I could not find an answer in the knowledge base.
I don't know because the model is not available in the documents I have.
Ich weiß es nicht, da die Datenbank nur Preise enthält.
Je ne sais pas, car la base de données ne contient pas ce prix.
No lo sé, porque la herramienta no aparece en los documentos.
Das weiß ich nicht, weil der Server in den Unterlagen nicht vorkommt.
I don't know, the search came back empty.
“I don’t know.”
"I don't know."
'I don't know.'
„Das weiß ich nicht.“
« Je ne sais pas. »
「わかりません。」
I&nbsp;don’t&nbsp;know.
The documents do&#160;not&nbsp;say.
Dazu finde ich in den Dokumenten leider keine Angabe.
Dazu habe ich keinen Hinweis gefunden.
I don't have that information.
I'm sorry, I don't have this information. The system only covers HR.
I cannot answer; the documents do not say why the service was down.
I could not find it. The room service is not available.
The documents do not say why. The service was down in May.
The context does not state the reason. The server is down.
The documents do not say when it returns. The search service is down at the moment.
I'm sorry. The documents do not say why. The system failed.
Die Dokumente nennen keinen Grund. Der Server ist ausgefallen.
Le contexte ne précise pas la cause. Le serveur est en panne.
El contexto no indica el motivo. El servidor está caído.
Nei documenti non è indicato il motivo. Il server non risponde.
Os documentos não mencionam o motivo. O servidor está fora do ar.
In de documenten staat geen reden. De server is niet bereikbaar.
В документах не указана причина. Сервер недоступен.
Belgede neden belirtilmemiş. Sunucu yanıt vermiyor.
资料未说明原因。系统故障。
文書には原因の記載がありません。サービスは停止していました。
문서에 언급되지 않았습니다. 서버가 응답하지 않습니다.
I have no information on the price. The model is currently unavailable.
I could not find the cause. The network failed.
I do not know the cause. The server was down.
Ich weiß es nicht. Der Kundendienst ist nicht erreichbar.
Bilmiyorum. Klima sistemi çalışmıyor.
我不知道。空调系统故障。
I do not know. The email service is down, according to the page.
Bu konuda bilgi bulunmuyor. Sistem raporları haftalık gönderir.
Belgede hizmetin neden çalışmadığı belirtilmemiş.
I do not know because the document does not say when the service is down.
I cannot say whether the delay was due to a technical failure.
The documents do not say whether refunds stop because the service is down.
Ich kann das nicht sagen, da das System in den Dokumenten nicht beschrieben wird.
Ik kan dit niet in de documenten terugvinden.
About the display: the documents contain no information.
The context shows: there is no information about the app.
Zur Anzeige: Dazu habe ich keine Angaben gefunden.
Je ne sais pas si le retard est dû à une panne technique.
Le document ne précise pas si le service est indisponible.
Je ne peux pas répondre car les documents ne disent pas si le serveur est en panne.
No puedo responder porque el documento no dice cuándo el sistema no está disponible.
No puedo decir si el retraso se debe a un problema técnico.
No sé si abre más tarde.
Non posso dire se il ritardo sia dovuto a un errore tecnico.
Non posso rispondere a causa della mancanza di informazioni.
Ich weiß nicht, ob das wegen einer technischen Störung ausfällt.
Ik weet niet of het door een storing komt.
Я не знаю, произошла ли задержка из-за технической ошибки.
Не могу ответить: в документах не сказано, когда сервис недоступен.
Не могу ответить из-за недостатка информации.
由于文档中没有系统故障的信息，我无法回答。
文档中没有提到由于系统故障造成的延误。
サービスが停止した理由は文書に記載されていません。
데이터베이스 오류에 대한 정보가 없습니다.
The context does not say whether the tenth payment can be made later.
The documents do not say whether customers may try again later.
An error code E42 is not mentioned in the documents.
Due to the technical nature of the passage, I cannot determine the price.
Aufgrund der technischen Unterlagen kann ich die Frage nicht beantworten.
Ich weiß nicht, ob der Versuch später wiederholt wurde.
Une erreur de ce type n'est pas mentionnée dans le document.
Je ne peux pas répondre en raison du manque de détails techniques.
No sé si se puede intentar más tarde.
Non so se il tentativo è avvenuto più tardi.
Não posso responder devido à falta de dados técnicos.
Ik kan niet antwoorden door het ontbreken van technische gegevens.
В документе не указано, можно ли повторить попытку позже.
文档中没有说明输错密码后是否可以稍后再试。
关于系统故障，文档中没有提及。
屏幕显示的内容文档中没有说明。
The program documents show the following: there is no information on prices.
因为系统故障造成的损失，文档中没有说明。
サーバの停止についての情報がないため回答できません。
서버 오류로 인한 손실에 대한 정보가 없습니다.
I don't know what 'SSO' means.
I don't know.
I do not know the answer to that.
I'm sorry, but I cannot answer that from the provided context.
I’m sorry, I can’t help with that.
The provided documents do not contain this information.
The context does not mention refunds.
There is no information about refunds in the context.
Unfortunately, I could not find anything about that.
I couldn't find any relevant documents.
Based on the given passages, I am unable to answer.
This is not mentioned in the text.
The answer is not in the provided documents.
Not enough information.
N/A
Empty Response
Unknown.
No answer.
I have no information on that.
Could you please clarify your question?
I need more context to answer this.
It is not possible to determine the date from the context.
The refund period is not specified in the documents.
Sorry, that is outside of what I can help with.
I am not able to find that in the knowledge base.
We could not find an answer to your question.
The documents don't say.
Cannot be determined from the context.
Nobody knows.
As an AI model, I cannot say.
The sources contain no details on this.
That's not something the documents cover.
No information available.
Dazu sagt der Text nichts.
Wann der Laden öffnet, sagt der Text nicht.
Einen Preis nennen die Unterlagen nicht.
Darüber sagt das Dokument nichts.
Der Preis steht im Text nicht.
Darüber gibt der Kontext keine Auskunft.
Dazu finde ich nichts in den Dokumenten.
Le texte ne le dit pas.
Le document ne le précise pas.
O texto não informa.
Tekst o tym nie mówi.
W dokumentach nie ma takiej informacji.
Das weiß ich nicht.
Dazu habe ich keine Informationen gefunden.
Das geht aus dem Kontext leider nicht hervor.
Ich kann diese Frage anhand der bereitgestellten Dokumente nicht beantworten.
Je ne sais pas.
Le contexte ne mentionne pas cette information.
Je n'ai pas trouvé d'information à ce sujet.
No lo sé.
No sé.
El contexto no menciona esa información.
No tengo información suficiente para responder.
Não sei.
Non lo so.
Ik weet het niet.
Я не знаю.
В контексте нет информации об этом.
К сожалению, я не могу ответить на этот вопрос.
我不知道。
抱歉，所提供的文档中没有提到这一点。
根据提供的上下文，无法回答这个问题。
わかりません。
ขออภัย ฉันไม่ทราบ
ไม่พบข้อมูลในเอกสาร
เอกสารไม่ได้ระบุระยะเวลาไว้
提供された文書には記載がありません。
모르겠습니다.
لا أعرف.
मुझे नहीं पता।
Bilmiyorum.
Nie wiem.
Không biết.
Saya tidak tahu.
I looked through everything you gave me and the delivery fee isn't stated anywhere.
I'm not able to say which of the two plans applies.
No details are given as to when the office opens.
Sorry, I have nothing on parking permits.
We simply don't have that information.
I would only be guessing; the sources don't cover this.
Darüber geben die Dokumente keinen Aufschluss.
Ich habe dazu nichts gefunden.
In den Quellen wird die Gebühr nicht genannt.
Keine Ahnung, das steht nirgends.
Mir ist nicht bekannt, wann das Büro öffnet.
Les documents fournis ne permettent pas de répondre à cette question.
Rien dans le texte n'indique la date d'ouverture.
Le règlement fourni est muet sur ce sujet.
Cette information ne figure pas dans les extraits.
Les sources n'en parlent pas.
Los documentos no dicen nada al respecto.
En el texto no se indica el precio.
No hay información sobre los horarios.
Lo siento, desconozco la respuesta.
No he encontrado ninguna mención del plazo.
I documenti non dicono nulla in merito.
Nel testo non viene indicato il prezzo.
Non è specificato nelle fonti.
Le fonti non ne parlano.
Non posso rispondere in base ai documenti disponibili.
Os documentos não dizem nada sobre isso.
O texto não indica o preço.
Não encontrei nada sobre os horários.
Não há qualquer menção a um prazo.
As fontes não abordam esse assunto.
В предоставленных материалах ответа нет.
Об этом в тексте не упоминается.
Источники молчат об этом.
Информации о цене нет.
Ничего не нашёл о сроках.
De documenten zeggen hier niets over.
In de tekst wordt de prijs niet genoemd.
Ik kan deze vraag niet beantwoorden.
Ik heb niets gevonden over de openingstijden.
Geen idee.
文書には答えが書かれていません。
料金についての記述は見当たりません。
資料からは判断できません。
締め切りについては触れられていません。
提供された文章では言及されていません。
文件中没有答案。
文中并未说明价格。
根据现有资料无法判断。
关于截止日期没有任何说明。
来源没有涉及这个话题。
Nothing in the handbook tells us who signs the form.
The excerpts leave that open.
That question can't be settled with the material at hand.
There is no mention of a deadline in any of the retrieved passages.
Your files say nothing about pets.
It remains unclear from the text how many seats are reserved.
Das kann ich Ihnen leider nicht sagen.
Die Frage lässt sich mit den vorliegenden Texten nicht beantworten.
Hierzu liegen mir keine Angaben vor.
Der Text enthält keine Hinweise auf den Preis.
Zu diesem Thema schweigen die Unterlagen.
Je n'en sais rien.
Désolé, je ne peux pas vous renseigner là-dessus.
Aucune information n'est donnée sur le prix.
Il m'est impossible de répondre avec ces éléments.
On ne trouve nulle part mention d'un délai.
No dispongo de esa información.
No puedo responder con los datos disponibles.
Esa cuestión no aparece en las fuentes.
Las fuentes guardan silencio sobre ese punto.
Ni idea.
Non ho informazioni su questo punto.
Mi dispiace, non so rispondere.
Non trovo nulla sugli orari.
La risposta non si trova nei passaggi forniti.
Nessuna menzione di un termine nel contesto.
Não disponho dessa informação.
Lamento, não consigo responder a isso.
Isso não consta das fontes.
Desconheço a resposta.
A resposta não está nos trechos fornecidos.
Я не знаю ответа на этот вопрос.
К сожалению, не могу сказать.
Мне это неизвестно.
Документы не дают ответа на этот вопрос.
Из приведённых отрывков это не ясно.
Daar heb ik geen informatie over.
Sorry, dat weet ik niet.
De bronnen geven daar geen uitsluitsel over.
Dat staat niet in de stukken.
Het antwoord is niet te vinden in de fragmenten.
それについてはわかりかねます。
この質問にはお答えできません。
残念ながら、情報がありません。
その点は不明です。
私は知りません。
我不知道这个问题的答案。
很抱歉,我无法回答。
资料里找不到相关内容。
这一点不得而知。
上下文没有给出足够的信息。
The handbook you sent has no section on sabbaticals, so I can't tell.
I've checked the three pages and none of them mentions a refund.
Hmm, not sure about that one.
This isn't something the sources talk about.
No passage explains who is liable.
The provided text gives no figure for 2023.
I'm afraid the knowledge base has nothing on that.
Your question goes beyond the material.
We were unable to find an answer in the documents.
Insufficient evidence in the context to say.
I can't see that covered in what I was given.
The manual stops short of naming a price.
There isn't enough in these pages to tell.
I have no details about the caterer.
The answer does not appear in the text.
Unfortunately the article only covers 2019, so I can't say.
Dazu kann ich nichts sagen.
Der Auszug nennt keinen Termin.
Les pages fournies n'évoquent pas les tarifs.
Je n'ai pas la réponse.
El documento no aclara quién paga.
No sabría decirle.
Il documento non chiarisce chi paga.
Non saprei.
O documento não esclarece quem paga.
Não faço ideia.
Документ не поясняет, кто платит.
Понятия не имею.
Het document maakt niet duidelijk wie betaalt.
Daar kan ik niets over zeggen.
文書では誰が払うか明らかにされていません。
見当がつきません。
文件没有说明由谁付款。
我没有相关信息。
I went through the pages but the supplier's name never comes up.
Not something I can answer from these notes.
I don't see any rule about bicycles.
We have no record of that in the sources.
The question of liability is left open in the text.
Die Seiten verraten nicht, wer haftet.
Ob Hunde erlaubt sind, wird nicht erwähnt.
Le guide ne précise pas qui paie.
Je suis incapable de le dire.
Las páginas no revelan el precio.
No me es posible contestar.
Le pagine non rivelano il prezzo.
Non mi è possibile rispondere.
As páginas não revelam o preço.
Não me é possível responder.
В тексте не раскрывается цена.
Я не могу ответить.
De pagina's vermelden de prijs niet.
Ik zou het niet weten.
このページでは価格が説明されていません。
回答は控えさせていただきます。
我回答不了。
The docs do not say.
The docs don't cover this.
Our docs don't mention a fee.
I couldn't find that in our docs.
The handbook doesn't say.
The guide does not mention a deadline.
The wiki has nothing on this.
The FAQ doesn't answer that.
Nothing in the docs about that.
No mention of that in the docs.
There's no info on this in the knowledge base.
The knowledge base doesn't include this.
That's not something I can find in the sources.
Not mentioned.
Not specified in the context.
I am not able to answer this from the given context.
Unable to answer based on the given documents.
I'm afraid I can't help with that question.
The retrieved chunks do not contain the answer.
The corpus does not contain an answer.
The dataset does not include this information.
The transcript doesn't mention it.
The report does not state the revenue for 2021.
The contract is silent on this point.
The policy doesn't specify.
The documents are silent on that.
Insufficient information.
Insufficient context to answer.
There isn't enough information to answer.
I do not have enough context.
No answer found.
No relevant documents found.
No results.
Cannot answer.
Can't say.
Hmm, I don't see that anywhere.
I wasn't able to find anything about refunds.
I was unable to locate the answer.
My sources don't list a phone number.
It's not clear from the documentation.
It is unclear from the text whether they ship to Canada.
The text leaves this open.
This information is not available.
This isn't covered in the material I have.
That information isn't in my knowledge base.
Sorry, I only answer questions about Acme products.
That is outside the scope of the documents.
This question is out of scope.
I can only answer questions about the handbook.
I lack the information to answer.
Das steht nicht in den Unterlagen.
Keine Angabe.
No aparece en los documentos.
Weet ik niet.
该文档没有提到。
Не знаю.
The manual doesn't tell us.
The README does not say.
The spec doesn't define it.
The page doesn't list prices.
The provided snippet doesn't have that.
The email doesn't mention an amount.
The article never says.
The document never mentions it.
None of the documents mention this.
Neither document mentions the fee.
The context provided lacks details about that.
No data.
I cannot verify that from the documents.
I have not been given that information.
I haven't been given that information.
I was not provided with this information.
I don't have access to that information.
I'd need more context to answer that.
Please provide more context.
I'm not aware of any such policy.
"""

ANSWERS = r"""
No tenemos tienda en Madrid.
No tenemos información de contacto por fax, solo correo.
El producto no está disponible en verde.
No disponemos de servicio los domingos.
No contamos con aparcamiento propio.
Cette taille n'est pas disponible.
Nous ne disposons pas de parking.
L'option n'est pas disponible en ligne.
Nous n'avons pas de magasin à Lyon.
Информация обновляется каждый день.
Мы не располагаем складом в Москве.
Отсутствует плата за доставку.
Auf unseren Webseiten kostet der Versand nichts.
我们没有实体店。
没有这方面的限制。
这个产品没有说明书。
在庫は持ち合わせていません。
ليس لدينا فرع في القاهرة.
لا توجد رسوم إضافية.
لا يوجد لدينا متجر في دبي.
Mağazamız yok.
Bu ürün stokta mevcut değil.
Kargo ücreti yok.
İade için bilgi formu gerekli değil.
Fiyata KDV dahil değil.
I do not have information about that, the tool returned an error.
Sorry, I was unable to retrieve the documents at this time.
I couldn't find an answer because the search tool failed.
I'm unable to access the policy database at the moment, so I can't answer this question.
I don't have access to that information right now due to a connection error.
I was unable to find that information because the retrieval tool timed out.
I encountered an error while searching the policies and could not find an answer.
I apologize, but the search_policies tool returned an error, so I don't know.
Unfortunately I could not find any information, because the knowledge base could not be reached.
I wasn't able to look that up because the retriever raised an exception.
The search tool failed, so I can't answer that.
Sorry, the knowledge base search timed out, so I don't know the answer.
I don't know, since the retrieval call returned an error.
I could not find the answer due to a timeout of the search service.
I'm sorry, but I can't answer this because the tool call failed with a connection error.
There was an error retrieving the documents, so I can't answer your question.
Something went wrong while searching, so I could not find an answer.
I ran into a technical issue while looking this up and don't have an answer.
I can't reach the knowledge base right now, so I don't know.
I am currently unable to access the documents.
I couldn't find anything, as the vector store is not responding.
I have no information on this because the database connection was refused.
We could not find an answer because our search index is unavailable.
I do not have that information: the lookup failed.
Unfortunately, I cannot determine this; the search tool returned an error.
Ich konnte keine Informationen finden, weil die Suche fehlgeschlagen ist.
Ich weiß es nicht, da das Suchwerkzeug einen Fehler gemeldet hat.
Leider konnte ich nichts finden, da die Wissensdatenbank nicht erreichbar war.
Je n'ai pas pu trouver l'information, car l'outil de recherche a renvoyé une erreur.
Je n'ai trouvé aucune information, car la base de données est indisponible.
No he podido encontrar esa información porque la herramienta de búsqueda devolvió un error.
No encontré información porque la base de datos no está disponible.
Non ho trovato informazioni perché lo strumento di ricerca ha restituito un errore.
Não encontrei essa informação porque a ferramenta de busca retornou um erro.
Ik kon geen informatie vinden omdat de zoekfunctie een fout gaf.
Я не нашёл информации, потому что инструмент поиска вернул ошибку.
К сожалению, я не могу найти информацию, так как база знаний недоступна.
我没有找到相关信息，因为搜索工具返回了错误。
検索ツールがエラーを返したため、情報が見つかりませんでした。
검색 도구가 오류를 반환하여 정보를 찾을 수 없습니다.
I'm sorry, I couldn't complete the search because the tool is not responding, so I don't have an answer.
It seems the search tool is currently unavailable, so I cannot answer your question.
I apologize, I was not able to retrieve the information due to a technical error.
I'm having trouble accessing the knowledge base right now, so I can't answer that.
I'm experiencing technical difficulties and can't look this up at the moment.
I don't know: my request to the document store timed out.
The retrieval tool returned a timeout error, so I do not have the information.
I could not retrieve any information because of a connection error.
I tried to search the policies, but the tool failed with an error, so I can't say.
Unfortunately, an error occurred while searching, so I can't find the answer.
I can't find this because my connection to the database failed.
I have no answer, because the API returned a 500 error.
I was unable to find an answer because an error occurred.
I'm unable to provide an answer because the search function encountered an error.
I cannot find the policy since the document search is failing.
Sorry, I don't have that information because the retrieval system failed to respond.
Ich habe dazu keine Informationen, weil die Datenbank nicht geantwortet hat.
Ich kann die Frage nicht beantworten, weil beim Suchen ein Fehler aufgetreten ist.
Leider habe ich nichts gefunden, da das Tool einen Fehler zurückgegeben hat.
Je ne sais pas, car l'outil de recherche a échoué.
Je n'ai pas pu accéder aux documents en raison d'une erreur technique.
No lo sé, porque la herramienta de búsqueda falló.
No tengo esa información, ya que el servicio de búsqueda no responde.
Non lo so, perché lo strumento di ricerca ha restituito un errore.
Não sei, porque a ferramenta de pesquisa falhou.
Dat weet ik niet, omdat de zoekfunctie niet beschikbaar is.
Я не знаю, потому что база данных недоступна.
我不知道，因为检索工具超时了。
分かりません。検索ツールでエラーが発生しました。
모르겠습니다. 검색 도구에서 오류가 발생했습니다.
“I don’t know,” said the clerk.
The clerk answered “I don’t know.”
"I don't know." That is the answer of the clerk.
I am not able to answer because the search service is down.
I'm sorry, I cannot answer due to an internal error.
Ich kann nicht antworten, weil der Suchdienst nicht erreichbar ist.
I'm sorry, I cannot help right now, please try again later.
I can't answer at the moment, as we are experiencing technical difficulties.
Die Frage kann wegen eines technischen Fehlers nicht beantwortet werden.
Aufgrund einer Störung kann ich derzeit nicht antworten.
Es ist ein Fehler aufgetreten, ich kann Ihre Frage nicht beantworten.
Je ne peux pas répondre car le service de recherche est en panne.
Je ne peux pas répondre à cause d’un problème technique.
Impossible de répondre : la base de données est indisponible.
No puedo responder porque el servicio de búsqueda no está disponible.
No puedo responder debido a un error técnico.
Non posso rispondere perché il servizio di ricerca non è disponibile.
Non è possibile rispondere a causa di un errore tecnico.
Não posso responder porque o serviço de pesquisa está fora do ar.
Não consigo responder devido a um erro técnico.
Ik kan de vraag niet beantwoorden omdat de zoekdienst niet beschikbaar is.
Я не могу ответить, потому что поисковый сервис недоступен.
Не могу ответить из-за технической ошибки.
Не удалось найти ответ: база данных недоступна.
Nie mogę odpowiedzieć, ponieważ usługa wyszukiwania jest niedostępna.
抱歉，由于搜索服务不可用，我无法回答。
因系统错误，无法回答该问题。
服务暂时不可用，无法回答您的问题。
検索サービスが停止しているため、回答できません。
システムエラーのため回答できません。
검색 서비스 오류로 인해 답변할 수 없습니다.
Sorry, I can't answer because the knowledge base is currently unavailable.
The service is temporarily unavailable, so I cannot answer.
Wegen einer Serverstörung kann ich gerade nicht antworten.
Une erreur technique est survenue, je ne peux pas répondre.
No puedo responder en este momento, inténtelo más tarde.
Er is een fout opgetreden, ik kan niet antwoorden.
В связи с техническими проблемами я не могу ответить.
数据库连接失败，无法回答。
システム障害により回答できません。
Arama hizmeti çalışmadığı için cevap veremiyorum.
Sunucu hatası nedeniyle cevap veremiyorum.
I could not find anything. The search service is down.
I'm sorry, our knowledge base is unavailable right now. I could not find anything.
I do not know. An error occurred while searching the documents.
No documents were found. The search service is down.
I could not find anything. The search service was unavailable.
I do not know. The model is currently overloaded.
我不知道。数据库故障。
Das weiß ich nicht. Der Suchdienst ist nicht erreichbar.
Je ne sais pas. Le service de recherche est indisponible.
No lo sé. El servicio de búsqueda no está disponible en este momento.
Non lo so. Il server non risponde.
Dat weet ik niet. De zoekdienst is niet bereikbaar.
Não sei. O banco de dados está fora do ar.
Я не знаю. Сервис поиска недоступен.
Bu konuda bilgi bulunmuyor. Veritabanına şu anda erişilemiyor.
我不知道。搜索服务不可用。
わかりません。検索サービスが停止しています。
모르겠습니다. 검색 서비스가 중단되었습니다.
La aplicación muestra un aviso si no hay información disponible.
The display shows: I do not know this card.
Das Programm meldet: Dokument nicht gefunden.
Aparece el mensaje: No hay información disponible.
На экране появится надпись: Нет данных.
屏幕显示没有找到相关信息。
La demande est close s'il n'y a pas de réponse.
O sistema usa zero se não houver informação.
Il campo resta vuoto se non ci sono informazioni.
O sistema mostra a mensagem 'não sei'.
The command prints 'I don't know' and ends.
30 days
30.
An empty response means that no row matched.
(B)
No, refunds are not possible.
I don't share your data with third parties.
The policy does not cover flood damage.
Flood damage is not covered by this policy.
It does not contain gluten.
It does not include batteries.
No documents are required for domestic travel.
There is no evidence that vitamin C prevents colds.
No data is sent to third parties.
We do not offer refunds after 30 days.
We do not provide phone support.
If you can't find your receipt, contact the shop.
Refunds cannot be provided after 30 days.
Please provide the receipt and the order number.
Refunds are not available to you after 30 days.
None of the plans include support.
You need to provide more than one document.
The unknown soldier is buried in Paris.
It was not found until 1912.
The museum lacks a roof.
Passengers who are not able to walk board first.
Sie können die Ware nach 30 Tagen nicht zurückgeben.
Der Versand ist im Preis nicht enthalten.
Le produit n'est pas remboursable.
El precio no incluye IVA.
No se puede devolver después de 30 días.
Продукт не содержит глютена.
После 30 дней вернуть товар нельзя.
您无法在30天后退款。
没有任何费用。
30日以降は返品できません。
The clerk told us that the records do not contain the address.
"I cannot answer that," the minister replied in 1998.
The lamp is not mentioned as an option because it is standard equipment.
Members who cannot find their card pay five euros.
The contract does not provide for a bonus.
The letter says that nobody knows the date of birth of the founder.
Wenn die Unterlagen nicht vollständig sind, wird der Antrag abgelehnt.
Nein, im Text der Vereinbarung ist die Miete nicht gedeckelt.
Die Meldung „Keine Angaben gefunden“ erscheint bei leerem Suchfeld.
Ohne Ausweis können Sie das Paket nicht abholen.
Haustiere sind nicht erlaubt.
Si le document n'est pas signé, la demande est rejetée.
Non, les textes ne sont pas imprimés en couleur.
Le message « aucune réponse trouvée » s'affiche lorsque la recherche échoue.
Le passage n'est pas ouvert aux vélos.
Quand je ne sais pas le numéro, j'appelle l'accueil.
Si el documento no está firmado, se rechaza la solicitud.
No, el contexto legal no permite el despido libre.
El mensaje «no se encontró información» aparece cuando falla la búsqueda.
No puedo devolver el artículo sin recibo, según la norma; hay que presentarlo.
No se puede pagar en efectivo.
Se il documento non è firmato, la domanda viene respinta.
No, il testo non deve superare le 300 parole.
Il messaggio «nessuna informazione trovata» compare se la ricerca fallisce.
Non si può pagare in contanti.
Il passaggio non è aperto alle biciclette.
Se o documento não estiver assinado, o pedido é recusado.
Não, o texto não pode ter mais de 300 palavras.
A mensagem «nenhuma informação encontrada» aparece quando a busca falha.
Não se pode pagar em dinheiro.
Não há custos adicionais.
Если документ не подписан, заявление отклоняется.
Нет, текст не должен превышать 300 слов.
Сообщение «информация не найдена» появляется, когда поиск не удался.
Нельзя платить наличными.
Дополнительных расходов нет.
Als het document niet is ondertekend, wordt de aanvraag afgewezen.
Nee, de tekst mag niet langer zijn dan 300 woorden.
De melding "geen informatie gevonden" verschijnt als het zoeken mislukt.
U kunt niet contant betalen.
Er zijn geen extra kosten.
文書に署名がない場合、申請は却下されます。
いいえ、本文は300語を超えてはいけません。
「情報がありません」というメッセージは検索に失敗したときに表示されます。
現金では支払えません。
番号がわからないときは受付に電話してください。
如果文件没有签名,申请将被拒绝。
不,正文不能超过300字。
搜索失败时会显示“没有找到相关信息”。
不能用现金支付。
如果不知道号码,请致电前台。
If I don't know the code, I can ask at the desk.
The error "document not found" means that the path is wrong.
Use `raise ValueError("no information available")` in that branch.
The warranty text does not apply to tyres.
When the source is not specified, the program reads standard input.
No, the article is not included in the price.
Der Zeuge sagte, er wisse es nicht.
Die Versicherung deckt keine Wasserschäden.
Falls Sie die Antwort nicht wissen, lassen Sie das Feld frei.
Das Dokument darf nicht kopiert werden.
Sagt der Artikel nichts anderes, gelten 30 Tage.
Der Journalist nennt die Quelle nicht.
Die Bank gibt die Unterlagen nicht zurück.
Das Formular enthält den Text nicht.
Der Drucker gibt die Seite nicht aus.
Steht auf der Seite kein Datum, gilt der Tag des Kaufs.
Le guide ne le remplace pas : il est gratuit.
Dokument nie wymaga podpisu.
Le témoin a déclaré qu'il ne savait pas.
L'assurance ne couvre pas le vol.
Aucune réponse n'est due après trente jours.
Les chiens ne sont pas admis.
Le colis n'est pas remboursé sans reçu.
El testigo dijo que no sabía nada.
El seguro no cubre los daños por agua.
Los perros no están permitidos.
El texto no debe superar las 300 palabras.
Los documentos no originales no se aceptan.
Il testimone ha detto che non lo sa.
L'assicurazione non copre i danni da acqua.
I cani non sono ammessi.
I documenti non originali non vengono accettati.
Non ci sono costi aggiuntivi.
A testemunha disse que não sabia.
O seguro não cobre danos causados pela água.
Os cães não são permitidos.
Os documentos não originais não são aceites.
A passagem não está aberta a bicicletas.
Свидетель сказал, что не знает.
Страховка не покрывает ущерб от воды.
Собаки не допускаются.
Документы без печати не принимаются.
Если не знаете номер, позвоните на стойку.
De getuige zei dat hij het niet wist.
De verzekering dekt geen waterschade.
Honden zijn niet toegestaan.
Documenten zonder stempel worden niet geaccepteerd.
Weet u het nummer niet, bel dan de balie.
証人は知らないと言いました。
保険は水害を補償しません。
犬は入れません。
追加料金はありません。
原本でない書類は受け付けません。
证人说他不知道。
保险不赔偿水灾损失。
不允许带狗。
没有额外费用。
不接受非原件。
The applicant says she does not know the tenant.
If you are not sure, ask at reception.
None of the lockers has a lock.
It isn't clear glass but frosted glass.
The form asks: "Do you have no information about the heir?"
You cannot answer the phone during the exam.
The museum could not find a buyer for the painting in 1920.
The sources of the river are not known to tourists, but locals bathe there.
Nobody under 18 may enter.
The manual recommends a filter; without it, the pump fails.
The gate does not open if the badge is unknown.
She could not find her ticket, so she bought another.
The word does not appear in capital letters.
Staff have no access to the vault.
The notice said no answer would be given by phone.
The park has no information desk.
Der Bote konnte den Empfänger nicht finden.
Das Amt gibt keine Auskunft am Telefon.
On ne trouve pas de place le samedi.
Le guichet ne donne pas de renseignements par téléphone.
No hay plazas los sábados.
El guía no dice su edad.
Non ci sono posti il sabato.
La guida non parla tedesco.
Não há lugares ao sábado.
O guia não fala alemão.
В субботу мест нет.
Гид не говорит по-немецки.
Op zaterdag zijn er geen plaatsen.
De gids spreekt geen Duits.
土曜日は席がありません。
ガイドはドイツ語を話しません。
星期六没有座位。
导游不会说德语。
The door has been left open since noon.
I see no reason to change the filter earlier than in June.
The clerk could not answer because the line was busy.
Records are not kept longer than a year.
The tower cannot be seen from the road.
If nothing is found, the search returns an empty list.
Der Schaffner wusste nicht, wann der Zug fährt.
Auf Seite 3 darf nichts eingetragen werden.
Le guide ne quitte pas le groupe.
Personne ne peut entrer après minuit.
Nadie puede entrar después de medianoche.
El guía no abandona el grupo.
Nessuno può entrare dopo mezzanotte.
La guida non lascia il gruppo.
Ninguém pode entrar depois da meia-noite.
O guia não deixa o grupo.
Никто не может войти после полуночи.
Гид не оставляет группу.
Niemand mag na middernacht naar binnen.
De gids verlaat de groep niet.
真夜中以降は誰も入れません。
ガイドはグループを離れません。
午夜后任何人不得进入。
导游不会离开团队。
The policy does not cover floods.
The guide does not charge for cancellations.
The contract does not include maintenance.
No, the plan doesn't include support.
The report does not include taxes in the revenue.
The product page lists no discount because there is none: the price is 20 EUR.
Docs do not need to be notarised.
No documents are needed.
You do not need to send the docs by post.
The docs are free.
The spec does not allow spaces in names.
The handbook does not apply to contractors.
The email is sent at 9 am.
The guide covers three cities.
The dataset does not contain images, only text.
The wiki is read-only.
The FAQ page is at acme.com/faq.
Guides do not give discounts.
The docs team does not answer on weekends.
The transcript costs 5 EUR.
The README is in Markdown.
The email does not include an attachment.
No, the policy does not cover that.
The policy does not cover it.
The contract does not include this.
The plan doesn't include that, you need the Pro plan.
The terms do not give it to students.
no_proxy
no_color
There are no matches on Sundays.
The team had no hits in the last game.
The report does not include that cost; it is billed separately.
The minutes do not roll over.
The letter does not need a stamp.
The agreement does not provide it free of charge.
I can't recommend it enough: the blue trail is the best.
The log file does not have it enabled by default.
The regulations never give this right to visitors.
The entry is undocumented.
Visitors are not addressed by their first names.
The rooms are not described in stars but in keys.
Children are not named in the will.
The path is not documented as safe in winter.
The form is not available to non-residents.
Parking is not part of the ticket.
The pool is not available.
The product is not available in the store.
The service is not given on Sundays.
You may not share the password.
The author remains unknown.
Which means that the fee is 5 EUR.
You mean well, but the fee is due.
The rule does not say 5 days but 5 working days.
No wiki page may be deleted without a vote.
The website does not answer calls; use the form.
Only the docs team can answer that before release.
I have no way to pay by card; cash only.
The transcript is not part of the file.
Nein, der Vertrag enthält keine Mindestlaufzeit.
Der Vertrag enthält keine Kaution.
Die Hausordnung regelt keine Ruhezeiten am Samstag, sie gilt nur sonntags.
Die AGB erlauben keine Rückgabe.
Der Laden bleibt offen.
Am Automaten kann ich nicht mit Karte zahlen, nur bar.
Darin steht nichts Verbotenes.
Das Ticket nennt keine Sitzplatznummer, weil freie Platzwahl gilt.
Weder Hunde noch Katzen gehen allein aus dem Haus.
Die Richtlinie gilt nicht für Praktikanten.
Non, le contrat ne comprend pas l'assurance.
La politique n'autorise pas les remboursements.
Les conditions ne prévoient pas de caution.
Le manuel n'est pas fourni avec l'appareil.
Le dossier n'est pas complet sans la photo.
La notice ne parle qu'anglais et français.
Rien ne permet d'entrer sans billet.
El contrato no incluye el transporte.
La póliza no cubre inundaciones.
No hay constancia de pago sin recibo.
Falta la firma en el contrato.
El manual no se vende por separado.
Non c'è alcun costo aggiuntivo.
Il contratto non prevede penali.
Il manuale non è incluso.
La firma manca dal contratto.
Het contract bevat geen boete.
De polis dekt geen schade door water.
In de folder staat geen prijs omdat de toegang gratis is.
O contrato não inclui seguro.
A apólice não cobre enchentes.
Não há nada a pagar.
O manual não é vendido separadamente.
Договор не содержит штрафов.
Вернуть билет невозможно.
Комиссия отсутствует.
Справка не содержит печати, и это допустимо.
Правила не содержат ограничений по возрасту.
"""


@pytest.mark.parametrize("answer", REFUSALS.strip().splitlines())
def test_an_answer_that_declines_is_a_refusal(answer: str):
    assert is_refusal(answer)


@pytest.mark.parametrize("answer", ANSWERS.strip().splitlines())
def test_an_answer_that_says_no_is_no_refusal(answer: str):
    assert not is_refusal(answer)


@pytest.mark.parametrize("answer", ["", " \n\t", "...", "- \n* "])
def test_an_answer_that_says_nothing_is_a_refusal(answer: str):
    assert is_refusal(answer)


@pytest.mark.parametrize(
    "opening",
    [
        "Thank you for your question.",
        "I have read all pages.",
        "The documents are about lockers.",
        "Which locker do you mean?",
    ],
)
def test_a_refusal_may_follow_a_sentence_that_claims_nothing(opening: str):
    assert is_refusal(f"{opening} Unfortunately, the documents do not mention it.")


@pytest.mark.parametrize("opening", ["Refunds take 30 days.", "No.", "A receipt is needed. Refunds take 30 days."])
def test_after_a_claim_a_gap_only_qualifies_the_answer(opening: str):
    assert not is_refusal(f"{opening} The documents do not mention exchanges.")


def test_an_answer_that_declines_and_then_gives_something_is_a_refusal():
    assert is_refusal("The context does not mention it. However, most shops give 14 days.")


@given(st.text(alphabet="i do'not knw.的不 ", max_size=5000))
def test_any_text_can_be_classified(answer: str):
    assert is_refusal(answer) in {True, False}
